// Results of CUDA's driver interface.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string_view>

#include "../common/codes.hpp"
#include "../common/fault.hpp"
#include "../common/report.hpp"

namespace cass::cuda::driver {

using enum Code;

// The driver's code for what a HIP call returned.
int finish(hipError_t result);

// Says that `what` is not supported; returns CUDA_ERROR_NOT_SUPPORTED.
int unsupported(std::string_view what);

}  // namespace cass::cuda::driver

#define FORWARD(name, target, parameters, arguments)                     \
  CUDA_API int name parameters {                                         \
    return cass::cuda::unless_at_fault([&] { return target arguments; }, \
                                       cass::cuda::driver::finish);      \
  }
