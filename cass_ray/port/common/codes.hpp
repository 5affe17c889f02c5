// What CUDA's runtime and its driver interface have in common: codes of results, which are HIP's,
// number by number, where both have one, and how entry points are exported.
#pragma once

namespace cass::cuda {

enum Code : int {
  success = 0,
  invalid_value = 1,
  not_initialized = 3,
  invalid_configuration = 9,
  invalid_device_function = 98,
  invalid_image = 200,
  no_binary = 209,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  not_supported = 801,
  invalid_cluster_size = 912,
  unknown = 999,
};

}  // namespace cass::cuda

#define CUDA_API extern "C" __attribute__((visibility("default")))
