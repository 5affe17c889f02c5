// Results of CUDA's driver interface: its codes are HIP's, number by number, where both have one.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string_view>

#include "../runtime/report.hpp"

namespace cass::cuda::driver {

enum Result : int {
  success = 0,
  invalid_value = 1,
  not_initialized = 3,
  invalid_image = 200,
  no_binary = 209,
  not_found = 500,
  not_supported = 801,
  unknown = 999,
};

// The driver's code for what a HIP call returned.
int finish(hipError_t result);

// Says that `what` is not supported; returns CUDA_ERROR_NOT_SUPPORTED.
int unsupported(std::string_view what);

}  // namespace cass::cuda::driver

#define CUDA_API extern "C" __attribute__((visibility("default")))

#define FORWARD(name, target, parameters, arguments) \
  CUDA_API int name parameters { return cass::cuda::driver::finish(target arguments); }
