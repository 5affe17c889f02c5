#ifndef CASS_SHUFFLE
#define CASS_SHUFFLE
#if defined(__HIPCC__)
// Shuffles of a CUDA warp, for calls whose arguments come out of a macro.
namespace cass {
template <typename T>
__device__ inline T shfl(unsigned int mask, T value, int lane, int width = 32) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_sync(mask, value, lane, width);
#else
    static_cast<void>(mask);
    return __shfl(value, lane, width);
#endif
}
template <typename T>
__device__ inline T shfl_up(unsigned int mask, T value, unsigned int delta, int width = 32) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_up_sync(mask, value, delta, width);
#else
    static_cast<void>(mask);
    return __shfl_up(value, delta, width);
#endif
}
template <typename T>
__device__ inline T shfl_down(unsigned int mask, T value, unsigned int delta, int width = 32) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_down_sync(mask, value, delta, width);
#else
    static_cast<void>(mask);
    return __shfl_down(value, delta, width);
#endif
}
template <typename T>
__device__ inline T shfl_xor(unsigned int mask, T value, int lane_mask, int width = 32) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_xor_sync(mask, value, lane_mask, width);
#else
    static_cast<void>(mask);
    return __shfl_xor(value, lane_mask, width);
#endif
}
}  // namespace cass
#endif
#endif
