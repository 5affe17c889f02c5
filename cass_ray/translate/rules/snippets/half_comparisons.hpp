#ifndef CASS_HALF_COMPARISONS
#define CASS_HALF_COMPARISONS
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
// Comparisons of half and bfloat16 numbers and of pairs of them as CUDA defines them for NaN: those
// whose names end in "u" are true then, the others false. Of HIP's own some are not, some look at one
// number of a pair, and some are there for one of the types only.
namespace cass {
__host__ __device__ inline float as_float(__half value) { return __half2float(value); }
__host__ __device__ inline float as_float(__hip_bfloat16 value) { return __bfloat162float(value); }
__host__ __device__ inline __half truth_of(bool value, __half) { return __float2half(value ? 1.0f : 0.0f); }
__host__ __device__ inline __hip_bfloat16 truth_of(bool value, __hip_bfloat16) {
    return __float2bfloat16(value ? 1.0f : 0.0f);
}
template <typename T>
__host__ __device__ inline T not_a_number() {
    const unsigned short bits = 0x7fff;
    T result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}
#define CASS_COMPARISON(name, expression)                                                          \
    template <typename T>                                                                          \
    __host__ __device__ inline bool h##name(T left, T right) {                                     \
        const float a = as_float(left), b = as_float(right);                                       \
        return expression;                                                                         \
    }                                                                                              \
    template <typename Pair>                                                                       \
    __host__ __device__ inline Pair h##name##2(Pair a, Pair b) {                                   \
        a.x = truth_of(h##name(a.x, b.x), a.x);                                                    \
        a.y = truth_of(h##name(a.y, b.y), a.y);                                                    \
        return a;                                                                                  \
    }                                                                                              \
    template <typename Pair>                                                                       \
    __host__ __device__ inline unsigned int h##name##2_mask(Pair a, Pair b) {                      \
        return (h##name(a.x, b.x) ? 0xffffu : 0u) | (h##name(a.y, b.y) ? 0xffff0000u : 0u);        \
    }                                                                                              \
    template <typename Pair>                                                                       \
    __host__ __device__ inline bool hb##name##2(Pair a, Pair b) {                                  \
        return h##name(a.x, b.x) && h##name(a.y, b.y);                                             \
    }
CASS_COMPARISON(eq, !(a < b) && !(a > b) && a == a && b == b)
CASS_COMPARISON(ne, a < b || a > b)
CASS_COMPARISON(lt, a < b)
CASS_COMPARISON(le, a <= b)
CASS_COMPARISON(gt, a > b)
CASS_COMPARISON(ge, a >= b)
CASS_COMPARISON(equ, !(a < b) && !(a > b))
CASS_COMPARISON(neu, !(a <= b) || !(a >= b))
CASS_COMPARISON(ltu, !(a >= b))
CASS_COMPARISON(leu, !(a > b))
CASS_COMPARISON(gtu, !(a <= b))
CASS_COMPARISON(geu, !(a < b))
#undef CASS_COMPARISON
template <typename Pair>
__host__ __device__ inline Pair hisnan2(Pair a) {
    a.x = truth_of(hneu(a.x, a.x), a.x);
    a.y = truth_of(hneu(a.y, a.y), a.y);
    return a;
}
template <typename T>
__host__ __device__ inline int hisinf(T value) {
    const float number = as_float(value);
    return number == __builtin_inff() ? 1 : number == -__builtin_inff() ? -1 : 0;
}
// The greater and the smaller one; of zeros the one without or with a sign.
template <typename T>
__host__ __device__ inline T hmax_nan(T a, T b) {
    const float left = as_float(a), right = as_float(b);
    if (left != left || right != right) return not_a_number<T>();
    return left > right || (left == right && !__builtin_signbit(left)) ? a : b;
}
template <typename T>
__host__ __device__ inline T hmin_nan(T a, T b) {
    const float left = as_float(a), right = as_float(b);
    if (left != left || right != right) return not_a_number<T>();
    return left < right || (left == right && __builtin_signbit(left)) ? a : b;
}
template <typename Pair>
__host__ __device__ inline Pair hmax2_nan(Pair a, Pair b) {
    a.x = hmax_nan(a.x, b.x);
    a.y = hmax_nan(a.y, b.y);
    return a;
}
template <typename Pair>
__host__ __device__ inline Pair hmin2_nan(Pair a, Pair b) {
    a.x = hmin_nan(a.x, b.x);
    a.y = hmin_nan(a.y, b.y);
    return a;
}
}  // namespace cass
#endif
