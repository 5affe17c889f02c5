// Shuffles and votes without a mask, which the machine code of Volta and newer cards has none for:
// of the threads that are active, as they were (CUDA C Programming Guide, "Warp Vote Functions" and
// "Warp Shuffle Functions", on their deprecation).
#pragma once

#if defined(__CUDA_ARCH__)
#define CASS_SHUFFLE(name, argument)                                                            \
  template <class T>                                                                            \
  static __device__ __forceinline__ T __##name(T value, argument lanes, int width = warpSize) { \
    return __##name##_sync(__activemask(), value, lanes, width);                                \
  }
CASS_SHUFFLE(shfl, int)
CASS_SHUFFLE(shfl_up, unsigned)
CASS_SHUFFLE(shfl_down, unsigned)
CASS_SHUFFLE(shfl_xor, int)
#undef CASS_SHUFFLE
#endif

// libcu++ has a class of this name, whose constructor would be the macro below.
#if __cplusplus >= 201703L && __has_include(<cuda/std/__functional/invoke.h>)
#include <cuda/std/__functional/invoke.h>
#endif

// nvcc still declares these and ptxas refuses what it makes of them.
#define __any(condition) __any_sync(__activemask(), condition)
#define __all(condition) __all_sync(__activemask(), condition)
#define __ballot(condition) __ballot_sync(__activemask(), condition)
