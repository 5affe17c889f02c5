#ifndef CASS_FP8
#define CASS_FP8
#if defined(__HIPCC__)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
// CUDA's 8-bit floats: E4M3 and E5M2 of the OCP specification, on every card. HIP's own are FNUZ on
// gfx942 and in HIP before 6.3: with other biases, so that their bytes mean other numbers.
namespace cass {
enum fp8_saturation { FP8_NOSAT, FP8_SATFINITE };
enum fp8_interpretation { FP8_E4M3, FP8_E5M2 };
typedef unsigned char fp8_storage;
typedef unsigned short fp8x2_storage;
typedef unsigned int fp8x4_storage;
// To nearest even; NaN loses its sign unless it comes from a double, as CUDA's.
__host__ __device__ inline fp8_storage double_to_fp8(double x, fp8_saturation saturate,
                                                     fp8_interpretation kind) {
    const int mantissa = kind == FP8_E4M3 ? 3 : 2, bias = kind == FP8_E4M3 ? 7 : 15;
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const fp8_storage sign = static_cast<fp8_storage>(bits >> 63 << 7);
    bits &= ~0ull >> 1;
    const unsigned int top = static_cast<unsigned int>(bits >> (52 - mantissa)) & ((1u << mantissa) - 1u);
    if (bits > 0x7ff0000000000000ull) return sign | (kind == FP8_E4M3 ? 0x7f : 0x7e | top);
    double size;
    __builtin_memcpy(&size, &bits, sizeof size);
    // The largest number and half of a step beyond it: a tie goes to the even one.
    if (kind == FP8_E4M3 ? size > 464.0 : size >= 61440.0) {
        if (saturate == FP8_SATFINITE) return sign | (kind == FP8_E4M3 ? 0x7e : 0x7b);
        return sign | (kind == FP8_E4M3 ? 0x7f : 0x7c);
    }
    int exponent = static_cast<int>(bits >> 52) - 1023;
    if (exponent < 1 - bias) exponent = 1 - bias;
    const unsigned long long scale_bits = static_cast<unsigned long long>(1023 + mantissa - exponent) << 52;
    double scale;
    __builtin_memcpy(&scale, &scale_bits, sizeof scale);
    const double scaled = size * scale;  // exact, below 16
    unsigned int steps = static_cast<unsigned int>(scaled);
    const double rest = scaled - steps;
    steps += rest > 0.5 || (rest == 0.5 && (steps & 1u));
    return sign | static_cast<fp8_storage>((static_cast<unsigned int>(exponent + bias - 1) << mantissa) + steps);
}
__host__ __device__ inline fp8_storage float_to_fp8(float x, fp8_saturation saturate,
                                                    fp8_interpretation kind) {
    return x != x ? 0x7f : double_to_fp8(static_cast<double>(x), saturate, kind);
}
__host__ __device__ inline fp8_storage halfraw_to_fp8(half_raw x, fp8_saturation saturate,
                                                      fp8_interpretation kind) {
    return float_to_fp8(__half2float(static_cast<__half>(x)), saturate, kind);
}
__host__ __device__ inline fp8_storage bfloat16raw_to_fp8(__hip_bfloat16_raw x, fp8_saturation saturate,
                                                          fp8_interpretation kind) {
    return float_to_fp8(static_cast<float>(__hip_bfloat16(x)), saturate, kind);
}
__host__ __device__ inline fp8x2_storage float2_to_fp8x2(float2 x, fp8_saturation saturate,
                                                         fp8_interpretation kind) {
    return static_cast<fp8x2_storage>(float_to_fp8(x.x, saturate, kind) |
                                      float_to_fp8(x.y, saturate, kind) << 8);
}
__host__ __device__ inline fp8x2_storage double2_to_fp8x2(double2 x, fp8_saturation saturate,
                                                          fp8_interpretation kind) {
    return static_cast<fp8x2_storage>(double_to_fp8(x.x, saturate, kind) |
                                      double_to_fp8(x.y, saturate, kind) << 8);
}
__host__ __device__ inline fp8x2_storage halfraw2_to_fp8x2(half2_raw x, fp8_saturation saturate,
                                                           fp8_interpretation kind) {
    __half pair[2];
    __builtin_memcpy(pair, &x, sizeof pair);
    return float2_to_fp8x2(make_float2(__half2float(pair[0]), __half2float(pair[1])), saturate, kind);
}
__host__ __device__ inline fp8x2_storage bfloat16raw2_to_fp8x2(__hip_bfloat162_raw x, fp8_saturation saturate,
                                                               fp8_interpretation kind) {
    __hip_bfloat16 pair[2];
    __builtin_memcpy(pair, &x, sizeof pair);
    return float2_to_fp8x2(make_float2(__bfloat162float(pair[0]), __bfloat162float(pair[1])), saturate, kind);
}
// Every 8-bit float is a half.
__host__ __device__ inline float fp8_value(fp8_storage x, fp8_interpretation kind) {
    const int mantissa = kind == FP8_E4M3 ? 3 : 2, bias = kind == FP8_E4M3 ? 7 : 15;
    const int field = (x & 0x7f) >> mantissa, fraction = x & ((1 << mantissa) - 1);
    if (kind == FP8_E4M3 ? (x & 0x7f) == 0x7f : (x & 0x7f) > 0x7c) return __builtin_nanf("");
    float value = __builtin_inff();
    if (kind == FP8_E4M3 || field != 31) {
        const int exponent = (field ? field : 1) - bias - mantissa;
        const unsigned int scale_bits = static_cast<unsigned int>(127 + exponent) << 23;
        float scale;
        __builtin_memcpy(&scale, &scale_bits, sizeof scale);
        value = static_cast<float>(fraction + (field ? 1 << mantissa : 0)) * scale;
    }
    return x & 0x80 ? -value : value;
}
__host__ __device__ inline half_raw fp8_to_halfraw(fp8_storage x, fp8_interpretation kind) {
    const float value = fp8_value(x, kind);
    return value != value ? half_raw(0x7fff) : half_raw(__float2half(value));
}
__host__ __device__ inline half2_raw fp8x2_to_halfraw2(fp8x2_storage x, fp8_interpretation kind) {
    return half2_raw(fp8_to_halfraw(static_cast<fp8_storage>(x), kind).x,
                     fp8_to_halfraw(static_cast<fp8_storage>(x >> 8), kind).x);
}
// Towards zero, the nearest integer there is; NaN is 0, and the top bit of 64.
template <typename Integer> __host__ __device__ inline Integer fp8_integer(float x) {
    const bool is_signed = Integer(-1) < Integer(0);
    const int bits = 8 * sizeof(Integer);
    if (x != x) return static_cast<Integer>(bits == 64 ? 1ull << 63 : 0);
    // Beyond 32 bits nothing but infinity is out of range.
    const unsigned long long most = ~0ull >> (64 - bits + is_signed);
    if (x > 0 && (x > 1e6f || x > static_cast<float>(most))) return bits <= 16 || x > 1e6f ? Integer(most) : Integer(x);
    const float least = is_signed ? -static_cast<float>(most) - 1.f : 0.f;
    if (x < 0 && (x < -1e6f || x < least)) return is_signed ? static_cast<Integer>(~most) : Integer(0);
    return static_cast<Integer>(x);
}
template <fp8_interpretation Kind>
struct fp8 {
    fp8_storage __x;
    fp8() = default;
    __host__ __device__ explicit fp8(double x) : __x(double_to_fp8(x, FP8_SATFINITE, Kind)) {}
    __host__ __device__ explicit fp8(float x) : __x(float_to_fp8(x, FP8_SATFINITE, Kind)) {}
    __host__ __device__ explicit fp8(__half x) : fp8(__half2float(x)) {}
    __host__ __device__ explicit fp8(__hip_bfloat16 x) : fp8(static_cast<float>(x)) {}
#define CASS_FP8_INTEGER(T)                                               \
    __host__ __device__ explicit fp8(T x) : fp8(static_cast<float>(x)) {} \
    __host__ __device__ explicit operator T() const { return fp8_integer<T>(fp8_value(__x, Kind)); }
    CASS_FP8_INTEGER(short)
    CASS_FP8_INTEGER(unsigned short)
    CASS_FP8_INTEGER(int)
    CASS_FP8_INTEGER(unsigned int)
    CASS_FP8_INTEGER(long)
    CASS_FP8_INTEGER(unsigned long)
    CASS_FP8_INTEGER(long long)
    CASS_FP8_INTEGER(unsigned long long)
#undef CASS_FP8_INTEGER
    __host__ __device__ explicit operator char() const { return fp8_integer<char>(fp8_value(__x, Kind)); }
    __host__ __device__ explicit operator signed char() const { return fp8_integer<signed char>(fp8_value(__x, Kind)); }
    __host__ __device__ explicit operator unsigned char() const {
        return fp8_integer<unsigned char>(fp8_value(__x, Kind));
    }
    __host__ __device__ explicit operator float() const { return fp8_value(__x, Kind); }
    __host__ __device__ explicit operator double() const { return fp8_value(__x, Kind); }
    __host__ __device__ explicit operator __half() const { return __half(fp8_to_halfraw(__x, Kind)); }
    __host__ __device__ explicit operator __hip_bfloat16() const { return __hip_bfloat16(fp8_value(__x, Kind)); }
    __host__ __device__ explicit operator bool() const { return (__x & 0x7f) != 0; }
};
template <fp8_interpretation Kind>
struct fp8x2 {
    fp8x2_storage __x;
    fp8x2() = default;
    __host__ __device__ explicit fp8x2(float2 x) : __x(float2_to_fp8x2(x, FP8_SATFINITE, Kind)) {}
    __host__ __device__ explicit fp8x2(double2 x) : __x(double2_to_fp8x2(x, FP8_SATFINITE, Kind)) {}
    __host__ __device__ explicit fp8x2(__half2 x)
        : __x(halfraw2_to_fp8x2(half2_raw(x), FP8_SATFINITE, Kind)) {}
    __host__ __device__ explicit fp8x2(__hip_bfloat162 x)
        : __x(bfloat16raw2_to_fp8x2(static_cast<__hip_bfloat162_raw>(x), FP8_SATFINITE, Kind)) {}
    __host__ __device__ explicit operator __half2() const { return __half2(fp8x2_to_halfraw2(__x, Kind)); }
    __host__ __device__ explicit operator float2() const {
        return make_float2(fp8_value(static_cast<fp8_storage>(__x), Kind),
                           fp8_value(static_cast<fp8_storage>(__x >> 8), Kind));
    }
};
template <fp8_interpretation Kind>
struct fp8x4 {
    fp8x4_storage __x;
    fp8x4() = default;
    __host__ __device__ explicit fp8x4(float4 x)
        : __x(fp8x2<Kind>(make_float2(x.x, x.y)).__x |
              static_cast<fp8x4_storage>(fp8x2<Kind>(make_float2(x.z, x.w)).__x) << 16) {}
    __host__ __device__ explicit fp8x4(__half2 low, __half2 high)
        : __x(fp8x2<Kind>(low).__x | static_cast<fp8x4_storage>(fp8x2<Kind>(high).__x) << 16) {}
    __host__ __device__ explicit fp8x4(__hip_bfloat162 low, __hip_bfloat162 high)
        : __x(fp8x2<Kind>(low).__x | static_cast<fp8x4_storage>(fp8x2<Kind>(high).__x) << 16) {}
    __host__ __device__ explicit fp8x4(double4 x)
        : __x(fp8x2<Kind>(double2{x.x, x.y}).__x |
              static_cast<fp8x4_storage>(fp8x2<Kind>(double2{x.z, x.w}).__x) << 16) {}
    __host__ __device__ explicit operator float4() const {
        const fp8_storage* bytes = reinterpret_cast<const fp8_storage*>(&__x);
        return make_float4(fp8_value(bytes[0], Kind), fp8_value(bytes[1], Kind),
                           fp8_value(bytes[2], Kind), fp8_value(bytes[3], Kind));
    }
};
typedef fp8<FP8_E4M3> fp8_e4m3;
typedef fp8<FP8_E5M2> fp8_e5m2;
typedef fp8x2<FP8_E4M3> fp8x2_e4m3;
typedef fp8x2<FP8_E5M2> fp8x2_e5m2;
typedef fp8x4<FP8_E4M3> fp8x4_e4m3;
typedef fp8x4<FP8_E5M2> fp8x4_e5m2;
}  // namespace cass
#endif
#endif
