#ifndef CASS_SYNCWARP
#define CASS_SYNCWARP
#if defined(__HIPCC__)
// A barrier of a warp: the lanes of a wavefront run together, so it orders memory only.
namespace cass {
__device__ inline void syncwarp(unsigned int mask = 0xffffffffu) {
#ifdef __HIP_PLATFORM_NVIDIA__
    __syncwarp(mask);
#else
    static_cast<void>(mask);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}
}  // namespace cass
#endif
#endif
