#ifndef CASS_BALLOT
#define CASS_BALLOT
// Votes of a CUDA warp: the 32 lanes in this lane's half of the wavefront.
namespace cass {
__device__ inline unsigned int ballot(unsigned int mask, int predicate) {
    return static_cast<unsigned int>(__ballot64(predicate) >> (__lane_id() & 32u)) & mask;
}
__device__ inline unsigned int activemask() { return ballot(0xffffffffu, 1); }
__device__ inline int any(unsigned int mask, int predicate) { return ballot(mask, predicate) != 0; }
__device__ inline int all(unsigned int mask, int predicate) { return ballot(mask, !predicate) == 0; }
__device__ inline int uni(unsigned int mask, int predicate) {
    return all(mask, predicate) || !any(mask, predicate);
}
}  // namespace cass
#endif
