#ifndef CASS_HALF
#define CASS_HALF
#if defined(__HIPCC__)
#include <hip/hip_fp16.h>
namespace cass {
__host__ __device__ inline __half double2half(double value) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __double2half(value);
#else
    return __half(static_cast<_Float16>(value));
#endif
}
}  // namespace cass
#endif
#endif
