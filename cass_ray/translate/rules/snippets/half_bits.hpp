#ifndef CASS_HALF_BITS
#define CASS_HALF_BITS
// PTX's arithmetic on half numbers in registers of 16 bits and on pairs of them in 32 (PTX ISA 8.5,
// 9.7.4). Each operation rounds once and is fused with no other.
namespace cass {
enum class HalfOperation { add, sub, mul, min, max };
__device__ inline _Float16 half_of(unsigned int bits) {
    const unsigned short low = static_cast<unsigned short>(bits);
    _Float16 value;
    __builtin_memcpy(&value, &low, sizeof value);
    return value;
}
__device__ inline unsigned short bits_of_half(_Float16 value) {
    unsigned short bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7fff : bits;
}
template <HalfOperation Operation>
__device__ inline unsigned short half_binary(unsigned int x, unsigned int y) {
#pragma clang fp contract(off)
    const _Float16 a = half_of(x), b = half_of(y);
    switch (Operation) {
        case HalfOperation::add: return bits_of_half(a + b);
        case HalfOperation::sub: return bits_of_half(a - b);
        case HalfOperation::mul: return bits_of_half(a * b);
        case HalfOperation::min: return bits_of_half(static_cast<_Float16>(fminf(a, b)));
        default: return bits_of_half(static_cast<_Float16>(fmaxf(a, b)));
    }
}
__device__ inline unsigned short half_fma(unsigned int a, unsigned int b, unsigned int c) {
    return bits_of_half(__builtin_fmaf16(half_of(a), half_of(b), half_of(c)));
}
template <HalfOperation Operation>
__device__ inline unsigned int halves_binary(unsigned int a, unsigned int b) {
    return half_binary<Operation>(a, b) |
           static_cast<unsigned int>(half_binary<Operation>(a >> 16, b >> 16)) << 16;
}
__device__ inline unsigned int halves_fma(unsigned int a, unsigned int b, unsigned int c) {
    return half_fma(a, b, c) | static_cast<unsigned int>(half_fma(a >> 16, b >> 16, c >> 16)) << 16;
}
}  // namespace cass
#endif
