#ifndef CASS_SIMD
#define CASS_SIMD
// CUDA's SIMD-in-a-word intrinsics: two 16-bit or four 8-bit lanes in 32 bits.
namespace cass {
template <int Bits, bool Signed>
__host__ __device__ constexpr long long simd_lane(unsigned int word, int shift) {
    const unsigned int lane = (word >> shift) & ((1u << Bits) - 1u);
    return Signed && (lane >> (Bits - 1)) ? static_cast<long long>(lane) - (1ll << Bits) : lane;
}
template <int Bits, bool Signed, typename F>
__host__ __device__ inline unsigned int simd_map(unsigned int a, unsigned int b, F operation) {
    unsigned int result = 0;
    for (int shift = 0; shift < 32; shift += Bits) {
        const long long lane =
            operation(simd_lane<Bits, Signed>(a, shift), simd_lane<Bits, Signed>(b, shift));
        result |= (static_cast<unsigned int>(lane) & ((1u << Bits) - 1u)) << shift;
    }
    return result;
}
template <int Bits, bool Signed> __host__ __device__ inline long long simd_saturate(long long value) {
    const long long low = Signed ? -(1ll << (Bits - 1)) : 0;
    const long long high = Signed ? (1ll << (Bits - 1)) - 1 : (1ll << Bits) - 1;
    return value < low ? low : value > high ? high : value;
}
#define CASS_SIMD_BINARY(name, is_signed, expression)                                             \
    __host__ __device__ inline unsigned int name##2(unsigned int a, unsigned int b) {             \
        constexpr int bits = 16;                                                                  \
        return simd_map<bits, is_signed>(a, b, [](long long x, long long y) -> long long {        \
            return expression; });                                                                \
    }                                                                                             \
    __host__ __device__ inline unsigned int name##4(unsigned int a, unsigned int b) {             \
        constexpr int bits = 8;                                                                   \
        return simd_map<bits, is_signed>(a, b, [](long long x, long long y) -> long long {        \
            return expression; });                                                                \
    }
#define CASS_SIMD_UNARY(name, expression)                                                         \
    __host__ __device__ inline unsigned int name##2(unsigned int a) {                             \
        constexpr int bits = 16;                                                                  \
        return simd_map<bits, true>(a, 0, [](long long x, long long) -> long long {               \
            return expression; });                                                                \
    }                                                                                             \
    __host__ __device__ inline unsigned int name##4(unsigned int a) {                             \
        constexpr int bits = 8;                                                                   \
        return simd_map<bits, true>(a, 0, [](long long x, long long) -> long long {               \
            return expression; });                                                                \
    }
#define CASS_SIMD_COMPARE(name, is_signed, comparison)                                            \
    CASS_SIMD_BINARY(vcmp##name, is_signed, (x comparison y) ? -1 : 0)                            \
    CASS_SIMD_BINARY(vset##name, is_signed, (x comparison y) ? 1 : 0)
#define CASS_SIMD_SUM(name, is_signed)                                                            \
    __host__ __device__ inline unsigned int name##2(unsigned int a, unsigned int b) {             \
        unsigned int sum = 0;                                                                     \
        for (int s = 0; s < 32; s += 16) {                                                        \
            const long long d = simd_lane<16, is_signed>(a, s) - simd_lane<16, is_signed>(b, s);  \
            sum += static_cast<unsigned int>(d < 0 ? -d : d);                                     \
        }                                                                                         \
        return sum;                                                                               \
    }                                                                                             \
    __host__ __device__ inline unsigned int name##4(unsigned int a, unsigned int b) {             \
        unsigned int sum = 0;                                                                     \
        for (int s = 0; s < 32; s += 8) {                                                         \
            const long long d = simd_lane<8, is_signed>(a, s) - simd_lane<8, is_signed>(b, s);    \
            sum += static_cast<unsigned int>(d < 0 ? -d : d);                                     \
        }                                                                                         \
        return sum;                                                                               \
    }
CASS_SIMD_BINARY(vadd, false, x + y)
CASS_SIMD_BINARY(vaddss, true, (simd_saturate<bits, true>(x + y)))
CASS_SIMD_BINARY(vaddus, false, (simd_saturate<bits, false>(x + y)))
CASS_SIMD_BINARY(vsub, false, x - y)
CASS_SIMD_BINARY(vsubss, true, (simd_saturate<bits, true>(x - y)))
CASS_SIMD_BINARY(vsubus, false, (simd_saturate<bits, false>(x - y)))
CASS_SIMD_BINARY(vabsdiffs, true, x < y ? y - x : x - y)
CASS_SIMD_BINARY(vabsdiffu, false, x < y ? y - x : x - y)
CASS_SIMD_BINARY(vavgs, true, (x + y + (x + y >= 0)) >> 1)
CASS_SIMD_BINARY(vavgu, false, (x + y + 1) >> 1)
CASS_SIMD_BINARY(vhaddu, false, (x + y) >> 1)
CASS_SIMD_BINARY(vmaxs, true, x < y ? y : x)
CASS_SIMD_BINARY(vmaxu, false, x < y ? y : x)
CASS_SIMD_BINARY(vmins, true, y < x ? y : x)
CASS_SIMD_BINARY(vminu, false, y < x ? y : x)
CASS_SIMD_UNARY(vabs, x < 0 ? -x : x)
CASS_SIMD_UNARY(vabsss, (simd_saturate<bits, true>(x < 0 ? -x : x)))
CASS_SIMD_UNARY(vneg, -x)
CASS_SIMD_UNARY(vnegss, (simd_saturate<bits, true>(-x)))
CASS_SIMD_COMPARE(eq, false, ==)
CASS_SIMD_COMPARE(ne, false, !=)
CASS_SIMD_COMPARE(ges, true, >=)
CASS_SIMD_COMPARE(geu, false, >=)
CASS_SIMD_COMPARE(gts, true, >)
CASS_SIMD_COMPARE(gtu, false, >)
CASS_SIMD_COMPARE(les, true, <=)
CASS_SIMD_COMPARE(leu, false, <=)
CASS_SIMD_COMPARE(lts, true, <)
CASS_SIMD_COMPARE(ltu, false, <)
CASS_SIMD_SUM(vsads, true)
CASS_SIMD_SUM(vsadu, false)
#undef CASS_SIMD_BINARY
#undef CASS_SIMD_UNARY
#undef CASS_SIMD_COMPARE
#undef CASS_SIMD_SUM
}  // namespace cass
#endif
