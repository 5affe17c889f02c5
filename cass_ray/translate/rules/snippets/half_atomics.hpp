#ifndef CASS_HALF_ATOMICS
#define CASS_HALF_ATOMICS
#if defined(__HIPCC__)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
// atomicAdd of half and bfloat16 numbers and their pairs, which HIP lacks: by compare and swap of the
// 32 bits around them. Templates, which give way to HIP's own where it has them.
#ifndef __HIP_PLATFORM_NVIDIA__
namespace cass {
template <typename T> struct atomic_half {};
template <> struct atomic_half<__half> { typedef __half type; };
template <> struct atomic_half<__half2> { typedef __half2 type; };
template <> struct atomic_half<__hip_bfloat16> { typedef __hip_bfloat16 type; };
template <> struct atomic_half<__hip_bfloat162> { typedef __hip_bfloat162 type; };
__device__ inline __half half_sum(__half a, __half b) { return __hadd(a, b); }
__device__ inline __half2 half_sum(__half2 a, __half2 b) { return __hadd2(a, b); }
__device__ inline __hip_bfloat16 half_sum(__hip_bfloat16 a, __hip_bfloat16 b) { return __hadd(a, b); }
__device__ inline __hip_bfloat162 half_sum(__hip_bfloat162 a, __hip_bfloat162 b) { return __hadd2(a, b); }
}  // namespace cass
template <typename T>
__device__ inline typename cass::atomic_half<T>::type atomicAdd(T* address, typename cass::atomic_half<T>::type value) {
    const unsigned long long place = reinterpret_cast<unsigned long long>(address);
    unsigned int* word = reinterpret_cast<unsigned int*>(place & ~3ull);
    const unsigned int shift = 8 * static_cast<unsigned int>(place & 3);
    const unsigned int mask = (sizeof(T) == 4 ? ~0u : 0xffffu) << shift;
    unsigned int expected, seen = *word;
    T old;
    do {
        expected = seen;
        const unsigned int before = (expected & mask) >> shift;
        __builtin_memcpy(&old, &before, sizeof old);
        const T sum = cass::half_sum(old, value);
        unsigned int after = 0;
        __builtin_memcpy(&after, &sum, sizeof sum);
        seen = atomicCAS(word, expected, (expected & ~mask) | (after << shift));
    } while (seen != expected);
    return old;
}
#endif
#endif
#endif
