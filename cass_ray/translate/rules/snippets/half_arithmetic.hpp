#ifndef CASS_HALF_ARITHMETIC
#define CASS_HALF_ARITHMETIC
#if defined(__HIPCC__)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
// Arithmetic of half and bfloat16 numbers that HIP has for some of them only, or rounds twice.
namespace cass {
__device__ inline __half hfma(__half a, __half b, __half c) { return __hfma(a, b, c); }
// Rounded once: HIP's is a float's, rounded again, which errs where the float is half way between two
// bfloat16 numbers. There the product and the sum in double tell on which side the sum is.
__device__ inline __hip_bfloat16 hfma(__hip_bfloat16 left, __hip_bfloat16 right, __hip_bfloat16 added) {
    const float a = __bfloat162float(left), b = __bfloat162float(right), c = __bfloat162float(added);
    float sum = __builtin_fmaf(a, b, c);
    unsigned int bits;
    __builtin_memcpy(&bits, &sum, sizeof bits);
    if ((bits & 0xffffu) == 0x8000u) {
#pragma clang fp contract(off)
        const double product = static_cast<double>(a) * b, addend = c, middle = sum;
        const double rest = __builtin_fabs(product) > __builtin_fabs(addend) ? (product - middle) + addend
                                                                             : (addend - middle) + product;
        if (rest != 0.0) bits += (rest > 0.0) == (sum > 0.0f) ? 1u : ~0u;
        __builtin_memcpy(&sum, &bits, sizeof sum);
    }
    return __float2bfloat16(sum);
}
template <typename Pair>
__device__ inline Pair hfma2(Pair a, Pair b, Pair c) {
    a.x = hfma(a.x, b.x, c.x);
    a.y = hfma(a.y, b.y, c.y);
    return a;
}
__device__ inline __half2 hfma2(__half2 a, __half2 b, __half2 c) { return __hfma2(a, b, c); }
// In [0, 1]: NaN and minus zero become zero.
__host__ __device__ inline float saturated(float value) {
    return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}
__host__ __device__ inline __half saturated(__half value) { return __float2half(saturated(__half2float(value))); }
__host__ __device__ inline __hip_bfloat16 saturated(__hip_bfloat16 value) {
    return __float2bfloat16(saturated(__bfloat162float(value)));
}
// Not below zero; NaN stays one.
__device__ inline __half not_negative(__half value) { return __half2float(value) < 0.0f ? __float2half(0.0f) : value; }
__device__ inline __hip_bfloat16 not_negative(__hip_bfloat16 value) {
    return __bfloat162float(value) < 0.0f ? __float2bfloat16(0.0f) : value;
}
#define CASS_SATURATED(name)                                    \
    template <typename T>                                       \
    __device__ inline T name##_sat(T a, T b) {                  \
        return saturated(__##name(a, b));                       \
    }                                                           \
    template <typename Pair>                                    \
    __device__ inline Pair name##2_sat(Pair a, Pair b) {        \
        a.x = name##_sat(a.x, b.x);                             \
        a.y = name##_sat(a.y, b.y);                             \
        return a;                                               \
    }
CASS_SATURATED(hadd)
CASS_SATURATED(hsub)
CASS_SATURATED(hmul)
#undef CASS_SATURATED
#define CASS_FUSED(ending, bounded)                                \
    template <typename T>                                          \
    __device__ inline T hfma_##ending(T a, T b, T c) {             \
        return bounded(hfma(a, b, c));                             \
    }                                                              \
    template <typename Pair>                                       \
    __device__ inline Pair hfma2_##ending(Pair a, Pair b, Pair c) { \
        a.x = hfma_##ending(a.x, b.x, c.x);                        \
        a.y = hfma_##ending(a.y, b.y, c.y);                        \
        return a;                                                  \
    }
CASS_FUSED(sat, saturated)
CASS_FUSED(relu, not_negative)
#undef CASS_FUSED
// A complex product, added to another number.
template <typename Pair>
__device__ inline Pair hcmadd(Pair a, Pair b, Pair c) {
    Pair sum = c;
    sum.x = hfma(a.x, b.x, c.x);
    sum.y = hfma(a.x, b.y, c.y);
    sum.x = hfma(__hneg(a.y), b.y, sum.x);
    sum.y = hfma(a.y, b.x, sum.y);
    return sum;
}
}  // namespace cass
#endif
#endif
