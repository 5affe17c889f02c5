#pragma once

namespace cass {

// Replace the kernels that PyTorch's operators have for CUDA tensors. Once in a process.
void take_over_operators();

}  // namespace cass
