// The hidden kernel arguments.
#pragma once

#include "engine.hpp"

namespace cass::amdgpu {

// Fills them in in launch.kernarg (of kernarg_size bytes, explicit arguments placed at
// KernelArgument::offset), from the launch's other fields; its block is there.
void fill_hidden_arguments(Launch& launch);

}  // namespace cass::amdgpu
