// Results of CUDA's runtime.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string_view>

#include "../common/codes.hpp"
#include "../common/report.hpp"

namespace cass::cuda {

// CUDA's code for what a HIP call returned, kept for cudaGetLastError.
int finish(hipError_t result);

// Keep an error of the shim itself.
int fail(int code);

// Says that `what` is not supported; returns cudaErrorNotSupported.
int unsupported(std::string_view what);

}  // namespace cass::cuda
