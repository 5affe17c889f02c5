#ifndef CASS_REDUCE
#define CASS_REDUCE
#if defined(__HIPCC__)
// Reductions over the lanes of `mask` that have not ended (CUDA's __reduce_*_sync of sm_80).
namespace cass {
__device__ inline unsigned int reduce_lanes(unsigned int mask) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __ballot_sync(mask, 1);
#else
    return static_cast<unsigned int>(__ballot64(1) >> (__lane_id() & 32u)) & mask;
#endif
}
template <typename T> __device__ inline T reduce_operand(unsigned int mask, T value, int lane) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_sync(mask, value, lane, 32);
#else
    static_cast<void>(mask);
    return __shfl(value, lane, 32);
#endif
}
template <typename T> __device__ inline T reduce_partner(T value, int distance) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_xor_sync(0xffffffffu, value, distance, 32);
#else
    return __shfl_xor(value, distance, 32);
#endif
}
template <typename T, typename Operation>
__device__ inline T reduce(unsigned int mask, T value, Operation operation) {
    unsigned int left = reduce_lanes(mask);
    if (left == 0xffffffffu) {
        for (int distance = 1; distance < 32; distance *= 2)
            value = operation(value, reduce_partner(value, distance));
        return value;
    }
    T result = reduce_operand(mask, value, __ffs(left) - 1);
    while ((left &= left - 1) != 0)
        result = operation(result, reduce_operand(mask, value, __ffs(left) - 1));
    return result;
}
template <typename T> __device__ inline T reduce_add(unsigned int mask, T value) {
    return reduce(mask, value, [](T a, T b) { return a + b; });
}
template <typename T> __device__ inline T reduce_min(unsigned int mask, T value) {
    return reduce(mask, value, [](T a, T b) { return b < a ? b : a; });
}
template <typename T> __device__ inline T reduce_max(unsigned int mask, T value) {
    return reduce(mask, value, [](T a, T b) { return a < b ? b : a; });
}
template <typename T> __device__ inline T reduce_and(unsigned int mask, T value) {
    return reduce(mask, value, [](T a, T b) { return a & b; });
}
template <typename T> __device__ inline T reduce_or(unsigned int mask, T value) {
    return reduce(mask, value, [](T a, T b) { return a | b; });
}
template <typename T> __device__ inline T reduce_xor(unsigned int mask, T value) {
    return reduce(mask, value, [](T a, T b) { return a ^ b; });
}
}  // namespace cass
#endif
#endif
