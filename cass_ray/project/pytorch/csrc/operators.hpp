#pragma once

#include <string>

namespace cass {

// Replace the kernels that PyTorch's operators have for CUDA tensors. Once in a process.
void take_over_operators();

// Those of an installed package that was built for CUDA, once it is loaded.
void take_over_operators_of(const std::string& space);

}  // namespace cass
