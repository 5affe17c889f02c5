#ifndef CASS_NANOSLEEP
#define CASS_NANOSLEEP
#if defined(__HIPCC__)
namespace cass {
// Suspends the wavefront for about `nanoseconds`, or twice that, as CUDA's __nanosleep may.
__device__ inline void nanosleep(unsigned int nanoseconds) {
#ifdef __HIP_PLATFORM_NVIDIA__
    __nanosleep(nanoseconds);
#else
    // s_sleep counts in units of 64 cycles: some 32 ns at 2 GHz.
    for (unsigned int units = nanoseconds / 32 + 1; units != 0; --units) __builtin_amdgcn_s_sleep(1);
#endif
}
}  // namespace cass
#endif
#endif
