#ifndef CASS_SHUFFLE
#define CASS_SHUFFLE
// Shuffles of a CUDA warp, for calls whose arguments come out of a macro.
namespace cass {
template <typename T>
__device__ inline T shfl(unsigned int, T value, int lane, int width = 32) {
    return __shfl(value, lane, width);
}
template <typename T>
__device__ inline T shfl_up(unsigned int, T value, unsigned int delta, int width = 32) {
    return __shfl_up(value, delta, width);
}
template <typename T>
__device__ inline T shfl_down(unsigned int, T value, unsigned int delta, int width = 32) {
    return __shfl_down(value, delta, width);
}
template <typename T>
__device__ inline T shfl_xor(unsigned int, T value, int lane_mask, int width = 32) {
    return __shfl_xor(value, lane_mask, width);
}
}  // namespace cass
#endif
