// Error codes: CUDA's are HIP's, number by number, where both have one.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string_view>

#include "report.hpp"

namespace cass::cuda {

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int invalid_device_function = 98;
constexpr int no_kernel_image = 209;
constexpr int not_ready = 600;
constexpr int not_supported = 801;
constexpr int unknown = 999;

// CUDA's code for what a HIP call returned, kept for cudaGetLastError.
int finish(hipError_t result);

// Keep an error of the shim itself.
int fail(int code);

// Says that `what` is not supported; returns cudaErrorNotSupported.
int unsupported(std::string_view what);

}  // namespace cass::cuda

#define CUDA_API extern "C" __attribute__((visibility("default")))
