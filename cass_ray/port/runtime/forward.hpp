// Definitions of entry points that HIP has too, under its own name.
#pragma once

#include "../common/fault.hpp"
#include "abi.hpp"
#include "status.hpp"

namespace cass::cuda {

// The default stream of code compiled with --default-stream per-thread.
inline hipStream_t per_thread(hipStream_t stream) {
  return stream == nullptr ? hipStreamPerThread : stream;
}

}  // namespace cass::cuda

#define CASS_FORWARDED(target, arguments) \
  cass::cuda::unless_at_fault([&] { return target arguments; }, cass::cuda::finish)

#define FORWARD(name, target, parameters, arguments) \
  CUDA_API int name parameters { return CASS_FORWARDED(target, arguments); }

// An entry point with a stream as its last parameter, and its variant for per-thread streams.
#define FORWARD_STREAM(name, target, parameters, arguments)                  \
  CUDA_API int name parameters { return CASS_FORWARDED(target, arguments); } \
  CUDA_API int name##_ptsz parameters {                                      \
    stream = cass::cuda::per_thread(stream);                                 \
    return CASS_FORWARDED(target, arguments);                                \
  }

// A synchronous entry point and its variant, which waits for less.
#define FORWARD_BOTH(name, target, parameters, arguments) \
  FORWARD(name, target, parameters, arguments)            \
  CUDA_API int name##_ptds parameters { return CASS_FORWARDED(target, arguments); }
