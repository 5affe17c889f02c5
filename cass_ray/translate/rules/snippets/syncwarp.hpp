#ifndef CASS_SYNCWARP
#define CASS_SYNCWARP
// A barrier of a warp: the lanes of a wavefront run together, so it orders memory only.
namespace cass {
__device__ inline void syncwarp(unsigned int = 0xffffffffu) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
}  // namespace cass
#endif
