#ifndef CASS_NUMERIC
#define CASS_NUMERIC
#if defined(__HIPCC__)
// PTX's conversions, saturation, dot products and SIMD video instructions (PTX ISA 8.5, 9.7).
namespace cass {
__device__ inline float unit_interval(float value) { return fminf(fmaxf(value, 0.0f), 1.0f); }
__device__ inline double unit_interval(double value) { return fmin(fmax(value, 0.0), 1.0); }
// To an integer of `Bits` bits: what is out of range becomes the nearest end of it, NaN zero, but
// the top bit where double or 64 bits are involved.
template <typename To, typename From>
__device__ inline To to_integer(From value) {
    constexpr int bits = 8 * sizeof(To);
    constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
    const From top = static_cast<From>(1ull << (bits - 1)) * static_cast<From>(is_signed ? 1 : 2);
    constexpr To top_bit = static_cast<To>(1ull << (bits - 1));
    if (value != value) return sizeof(From) == 8 || bits == 64 ? top_bit : static_cast<To>(0);
    if (value >= top) return is_signed ? static_cast<To>(~top_bit) : static_cast<To>(-1);
    if (value <= (is_signed ? -top : static_cast<From>(0))) return is_signed ? top_bit : static_cast<To>(0);
    return static_cast<To>(value);
}
// An integer in the range of a narrower one, or of one with another sign.
template <typename To, typename From>
__device__ inline To clamp_integer(From value) {
    constexpr bool to_signed = static_cast<To>(-1) < static_cast<To>(0);
    constexpr unsigned long long top = ~0ull >> (64 - 8 * sizeof(To) + to_signed);
    if (value < static_cast<From>(0)) {
        if (!to_signed) return static_cast<To>(0);
        return static_cast<long long>(value) < -static_cast<long long>(top) - 1
                   ? static_cast<To>(-static_cast<long long>(top) - 1)
                   : static_cast<To>(value);
    }
    return static_cast<unsigned long long>(value) > top ? static_cast<To>(top) : static_cast<To>(value);
}
__device__ inline int add_saturating(int a, int b) {
    return clamp_integer<int>(static_cast<long long>(a) + b);
}
__device__ inline int sub_saturating(int a, int b) {
    return clamp_integer<int>(static_cast<long long>(a) - b);
}
// To bfloat16, to nearest even; NaN becomes the canonical one.
__device__ inline unsigned short bfloat16_bits(float value) {
    if (value != value) return 0x7fffu;
    const unsigned int bits = __float_as_uint(value);
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
__device__ inline unsigned short half_bits(float value) {
    const _Float16 rounded = static_cast<_Float16>(value);
    unsigned short bits;
    __builtin_memcpy(&bits, &rounded, sizeof bits);
    return value != value ? 0x7fffu : bits;
}
__device__ inline float half_value(unsigned short bits) {
    _Float16 value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return static_cast<float>(value);
}
// Lane `index` of `Bits` bits of a packed register.
template <bool Signed, int Bits>
__device__ inline int packed_lane(unsigned int word, int index) {
    const unsigned int raw = word >> (Bits * index) & ((1u << Bits) - 1u);
    return Signed && raw >> (Bits - 1) ? static_cast<int>(raw) - (1 << Bits) : static_cast<int>(raw);
}
template <bool SignedA, bool SignedB>
__device__ inline unsigned int dot4(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 4; ++i) c += packed_lane<SignedA, 8>(a, i) * packed_lane<SignedB, 8>(b, i);
    return c;
}
template <bool SignedA, bool SignedB, int First>
__device__ inline unsigned int dot2(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 2; ++i)
        c += packed_lane<SignedA, 16>(a, i) * packed_lane<SignedB, 8>(b, First + i);
    return c;
}
enum class Video { add, sub, avrg, absdiff, min, max };
// v{add,sub,avrg,absdiff,min,max}{2,4}: on each lane; with `Sum` the lanes are added to c.
template <Video Operation, int Bits, bool SignedA, bool SignedB, bool SignedD, bool Saturate, bool Sum>
__device__ inline unsigned int video(unsigned int a, unsigned int b, unsigned int c) {
    unsigned int packed = 0;
    for (int i = 0; i < 32 / Bits; ++i) {
        const int x = packed_lane<SignedA, Bits>(a, i), y = packed_lane<SignedB, Bits>(b, i);
        int r = 0;
        switch (Operation) {
            case Video::add: r = x + y; break;
            case Video::sub: r = x - y; break;
            case Video::avrg: r = (x + y + (x + y >= 0 ? 1 : 0)) >> 1; break;
            case Video::absdiff: r = x < y ? y - x : x - y; break;
            case Video::min: r = x < y ? x : y; break;
            case Video::max: r = x < y ? y : x; break;
        }
        if (Saturate) {
            const int low = SignedD ? -(1 << (Bits - 1)) : 0;
            const int high = (1 << (Bits - (SignedD ? 1 : 0))) - 1;
            r = r < low ? low : r > high ? high : r;
        }
        if (Sum) c += static_cast<unsigned int>(r);
        packed |= (static_cast<unsigned int>(r) & ((1u << Bits) - 1u)) << (Bits * i);
    }
    return Sum ? c : packed;
}
}  // namespace cass
#endif
#endif
