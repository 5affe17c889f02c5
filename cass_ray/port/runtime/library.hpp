// Kernels of libraries that the program has loaded: a cudaKernel_t of one is HIP's function, of
// another kernel it is the host's function.
#pragma once

#include <hip/hip_runtime_api.h>

#include "abi.hpp"

namespace cass::cuda {

// HIP's function where `kernel` is of a library that is loaded; else null.
hipFunction_t loaded_kernel(const void* kernel);

// The architecture of the machine code that such a kernel was lifted from, 80 for sm_80.
int capability_of_loaded(hipFunction_t kernel);

int launch_loaded(const void* kernel, const LaunchConfiguration& given, void** arguments,
                  hipStream_t stream);

}  // namespace cass::cuda
