#ifndef CASS_BALLOT
#define CASS_BALLOT
#if defined(__HIPCC__)
// Votes of a CUDA warp: the 32 lanes in this lane's half of the wavefront.
namespace cass {
__device__ inline unsigned int ballot(unsigned int mask, int predicate) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __ballot_sync(mask, predicate);
#else
    return static_cast<unsigned int>(__ballot64(predicate) >> (__lane_id() & 32u)) & mask;
#endif
}
__device__ inline unsigned int activemask() {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __activemask();
#else
    return ballot(0xffffffffu, 1);
#endif
}
__device__ inline int any(unsigned int mask, int predicate) { return ballot(mask, predicate) != 0; }
__device__ inline int all(unsigned int mask, int predicate) { return ballot(mask, !predicate) == 0; }
__device__ inline int uni(unsigned int mask, int predicate) {
    return all(mask, predicate) || !any(mask, predicate);
}
}  // namespace cass
#endif
#endif
