// Modules that the program has loaded, and what is known of their kernels.
#pragma once

#include <hip/hip_runtime_api.h>

namespace cass::cuda::driver {

// The architecture of the machine code that a kernel was lifted from, 80 for sm_80; 0: unknown.
int capability_of(hipFunction_t kernel);

}  // namespace cass::cuda::driver
