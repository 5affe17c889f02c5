#ifndef CASS_NARROW
#define CASS_NARROW
#include <hip/hip_fp16.h>
// Bits of 16-bit floats, as PTX keeps them in integer registers.
namespace cass {
__device__ inline unsigned short bfloat16_bits_rn(float value) {
    const unsigned int bits = __float_as_uint(value);
    if (value != value) return 0x7fffu;
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
__device__ inline unsigned short bfloat16_bits_rz(float value) {
    return value != value ? 0x7fffu : static_cast<unsigned short>(__float_as_uint(value) >> 16);
}
__device__ inline float bfloat16_value(unsigned short bits) {
    return __uint_as_float(static_cast<unsigned int>(bits) << 16);
}
__device__ inline unsigned short half_bits_rn(float value) {
    return value != value ? 0x7fffu : __half_as_ushort(__float2half_rn(value));
}
__device__ inline unsigned short half_bits_rz(float value) {
    return value != value ? 0x7fffu : __half_as_ushort(__float2half_rz(value));
}
__device__ inline float half_value(unsigned short bits) {
    return __half2float(__ushort_as_half(bits));
}
}  // namespace cass
#endif
