#ifndef CASS_SHUFFLE_BFLOAT16
#define CASS_SHUFFLE_BFLOAT16
#if defined(__HIPCC__)
#include <hip/hip_bf16.h>
// Shuffles of bfloat16 and its pairs, which HIP has for numbers and half only. Templates, which give
// way to HIP's own where it has them.
#ifndef __HIP_PLATFORM_NVIDIA__
namespace cass {
template <typename T> struct shuffled_bfloat16 {};
template <> struct shuffled_bfloat16<__hip_bfloat16> { typedef __hip_bfloat16 type; };
template <> struct shuffled_bfloat16<__hip_bfloat162> { typedef __hip_bfloat162 type; };
template <typename T> __device__ inline unsigned int bits_of(const T& value) {
    unsigned int bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <typename T> __device__ inline T of_bits(unsigned int bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
}  // namespace cass
template <typename T>
__device__ inline typename cass::shuffled_bfloat16<T>::type __shfl(T value, int lane, int width = warpSize) {
    return cass::of_bits<T>(__shfl(cass::bits_of(value), lane, width));
}
template <typename T>
__device__ inline typename cass::shuffled_bfloat16<T>::type __shfl_up(T value, unsigned int delta, int width = warpSize) {
    return cass::of_bits<T>(__shfl_up(cass::bits_of(value), delta, width));
}
template <typename T>
__device__ inline typename cass::shuffled_bfloat16<T>::type __shfl_down(T value, unsigned int delta, int width = warpSize) {
    return cass::of_bits<T>(__shfl_down(cass::bits_of(value), delta, width));
}
template <typename T>
__device__ inline typename cass::shuffled_bfloat16<T>::type __shfl_xor(T value, int lane_mask, int width = warpSize) {
    return cass::of_bits<T>(__shfl_xor(cass::bits_of(value), lane_mask, width));
}
#endif
#endif
#endif
