#ifndef CASS_REDUCE
#define CASS_REDUCE
// Reductions over the lanes of `mask` (CUDA's __reduce_*_sync of sm_80).
namespace cass {
template <typename T> __device__ inline T reduce_operand(unsigned int mask, T value, int lane) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_sync(mask, value, lane, 32);
#else
    static_cast<void>(mask);
    return __shfl(value, lane, 32);
#endif
}
template <typename T, typename Operation>
__device__ inline T reduce(unsigned int mask, T value, Operation operation) {
    T result = reduce_operand(mask, value, __ffs(mask) - 1);
    for (unsigned int left = mask & (mask - 1); left != 0; left &= left - 1)
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
