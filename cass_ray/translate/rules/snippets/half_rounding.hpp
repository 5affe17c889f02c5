#ifndef CASS_HALF_ROUNDING
#define CASS_HALF_ROUNDING
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
// Conversions of half and bfloat16 numbers to and from others, with each direction of rounding. HIP's
// own drop the fraction and round to nearest whatever their names say, or are not there.
namespace cass {
enum class Round { nearest, zero, down, up };
// The bits of a number with an exponent and a fraction of so many bits; of NaN those of CUDA's.
template <int Exponent, int Fraction>
__host__ __device__ inline unsigned short narrowed(double value, Round way) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    const bool is_negative = bits >> 63;
    const unsigned int sign = is_negative ? 0x8000u : 0u, infinity = ((1u << Exponent) - 1u) << Fraction;
    bits &= ~0ull >> 1;
    if (bits > 0x7ff0000000000000ull) return 0x7fff;
    if (bits == 0x7ff0000000000000ull) return static_cast<unsigned short>(sign | infinity);
    const int bias = (1 << (Exponent - 1)) - 1, exponent = static_cast<int>(bits >> 52) - 1023;
    if (bits >> 52) bits = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    int dropped = 52 - Fraction;
    if (exponent < 1 - bias) dropped += 1 - bias - exponent;
    if (dropped > 62) dropped = 62;
    const unsigned long long rest = bits & ((1ull << dropped) - 1ull), half = 1ull << (dropped - 1);
    unsigned long long kept = bits >> dropped;
    if (way == Round::nearest) kept += rest > half || (rest == half && (kept & 1ull));
    if (way == (is_negative ? Round::down : Round::up)) kept += rest != 0;
    if (exponent > bias) kept = infinity;
    else if (exponent >= 1 - bias) kept += static_cast<unsigned long long>(exponent + bias - 1) << Fraction;
    const bool is_away = way == Round::nearest || way == (is_negative ? Round::down : Round::up);
    if (kept >= infinity) kept = is_away ? infinity : infinity - 1u;
    return static_cast<unsigned short>(sign | kept);
}
template <typename T>
__host__ __device__ inline T narrowed_to(double value, Round way);
template <>
__host__ __device__ inline __half narrowed_to<__half>(double value, Round way) {
    const unsigned short bits = narrowed<5, 10>(value, way);
    __half result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}
template <>
__host__ __device__ inline __hip_bfloat16 narrowed_to<__hip_bfloat16>(double value, Round way) {
    const unsigned short bits = narrowed<8, 7>(value, way);
    __hip_bfloat16 result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}
// An integer as a double that rounds as it does: of more than 53 bits the last one says whether any of
// those behind it is set.
template <typename T>
__host__ __device__ inline double as_double(T value) {
    const bool is_negative = value < T(0);
    unsigned long long size = static_cast<unsigned long long>(value);
    if (is_negative) size = 0ull - size;
    double result = static_cast<double>(size);
    if (size >> 53) result = 2048.0 * static_cast<double>(size >> 11 | ((size & 0x7ffull) ? 1ull : 0ull));
    return is_negative ? -result : result;
}
__host__ __device__ inline float wide(__half value) { return __half2float(value); }
__host__ __device__ inline float wide(__hip_bfloat16 value) { return __bfloat162float(value); }
// To an integer: what is out of range becomes its nearest end, NaN zero, but the top bit in 64 bits.
template <typename To, typename From>
__host__ __device__ inline To whole(From number, Round way) {
    float value = wide(number);
    constexpr int bits = 8 * sizeof(To);
    constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
    constexpr To top_bit = static_cast<To>(1ull << (bits - 1));
    if (value != value) return bits == 64 ? top_bit : static_cast<To>(0);
    value = way == Round::nearest ? __builtin_rintf(value)
            : way == Round::zero  ? __builtin_truncf(value)
            : way == Round::down  ? __builtin_floorf(value)
                                  : __builtin_ceilf(value);
    const float top = static_cast<float>(1ull << (bits - 1)) * (is_signed ? 1.0f : 2.0f);
    if (value >= top) return is_signed ? static_cast<To>(~top_bit) : static_cast<To>(-1);
    if (value <= (is_signed ? -top : 0.0f)) return is_signed ? top_bit : static_cast<To>(0);
    return static_cast<To>(value);
}
template <typename T, typename From>
__host__ __device__ inline T from_whole(From value, Round way) {
    return narrowed_to<T>(as_double(value), way);
}
#define CASS_ROUNDED(short_name, type, ending, way)                                                \
    __host__ __device__ inline type half2##short_name##_##ending(__half value) {                   \
        return whole<type>(value, way);                                                            \
    }                                                                                              \
    __host__ __device__ inline type bfloat162##short_name##_##ending(__hip_bfloat16 value) {       \
        return whole<type>(value, way);                                                            \
    }                                                                                              \
    __host__ __device__ inline __half short_name##2half_##ending(type value) {                     \
        return from_whole<__half>(value, way);                                                      \
    }                                                                                              \
    __host__ __device__ inline __hip_bfloat16 short_name##2bfloat16_##ending(type value) {         \
        return from_whole<__hip_bfloat16>(value, way);                                             \
    }
#define CASS_ROUNDED_EACH_WAY(short_name, type)          \
    CASS_ROUNDED(short_name, type, rn, Round::nearest)   \
    CASS_ROUNDED(short_name, type, rz, Round::zero)      \
    CASS_ROUNDED(short_name, type, rd, Round::down)      \
    CASS_ROUNDED(short_name, type, ru, Round::up)
CASS_ROUNDED_EACH_WAY(char, signed char)
CASS_ROUNDED_EACH_WAY(uchar, unsigned char)
CASS_ROUNDED_EACH_WAY(short, short)
CASS_ROUNDED_EACH_WAY(ushort, unsigned short)
CASS_ROUNDED_EACH_WAY(int, int)
CASS_ROUNDED_EACH_WAY(uint, unsigned int)
CASS_ROUNDED_EACH_WAY(ll, long long)
CASS_ROUNDED_EACH_WAY(ull, unsigned long long)
#undef CASS_ROUNDED_EACH_WAY
#undef CASS_ROUNDED
#define CASS_ROUNDED(ending, way)                                                                  \
    __host__ __device__ inline __half float2half_##ending(float value) {                           \
        return narrowed_to<__half>(static_cast<double>(value), way);                               \
    }                                                                                              \
    __host__ __device__ inline __hip_bfloat16 float2bfloat16_##ending(float value) {               \
        return narrowed_to<__hip_bfloat16>(static_cast<double>(value), way);                       \
    }
CASS_ROUNDED(rz, Round::zero)
CASS_ROUNDED(rd, Round::down)
CASS_ROUNDED(ru, Round::up)
#undef CASS_ROUNDED
__host__ __device__ inline __hip_bfloat16 double2bfloat16(double value) {
    return narrowed_to<__hip_bfloat16>(value, Round::nearest);
}
}  // namespace cass
#endif
