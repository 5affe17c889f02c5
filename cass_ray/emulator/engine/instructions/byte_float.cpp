// Conversions between f32 and floating point of 8 bits (MI300 ISA, 12.8 VOP1, 12.10 VOP3; RDNA4
// ISA, 16.8 VOP1, 16.11 VOP3).
#include "byte_float.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;

template <class Format>
ALWAYS_INLINE U32 floats_of_bytes(U32 source, u32 number) {
  const auto from = bits_as<Row>(source);
  Row to;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const float value = float_of_byte<Format>(from.lane[lane] >> (8 * number) & 0xFF);
    to.lane[lane] = __builtin_bit_cast(u32, value);
  }
  return bits_as<U32>(to);
}
template <class Format>
ALWAYS_INLINE U32 bytes_of_floats(F32 source) {
  const auto from = bits_as<Row>(source);
  Row to;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    to.lane[lane] = byte_of_float<Format>(__builtin_bit_cast(float, from.lane[lane]));
  }
  return bits_as<U32>(to);
}

// SDWA names another byte or half: decoding has put it into the lowest bits.
#define FROM_BYTES(suffix, ending, Format)                                                     \
  OPERATION(v_cvt_f32_##suffix##ending) {                                                      \
    write_bits(w, i, floats_of_bytes<Format>(read_u32(w, i.source[0]), 0));                    \
  }                                                                                            \
  OPERATION(v_cvt_pk_f32_##suffix##ending) {                                                   \
    const U32 both = read_u32(w, i.source[0]);                                                 \
    const U32 low = floats_of_bytes<Format>(both, 0), high = floats_of_bytes<Format>(both, 1); \
    write_bits(w, i, join(low, high));                                                         \
  }                                                                                            \
  OPERATION(v_cvt_pk_##suffix##_f32##ending) {                                                 \
    const U32 low = bytes_of_floats<Format>(source<F32>(w, i, 0));                             \
    const U32 high = bytes_of_floats<Format>(source<F32>(w, i, 1));                            \
    write_bits(w, i, convert<U16>(low | high << 8));                                           \
  }
FROM_BYTES(fp8, , Fp8)
FROM_BYTES(bf8, , Bf8)
FROM_BYTES(fp8, _gfx950, OcpFp8)
FROM_BYTES(bf8, _gfx950, OcpBf8)

// gfx12: the byte's number is the instruction's constant; halves are chosen as of f16.
#define FROM_OCP_BYTES(suffix, Format)                                                         \
  OPERATION(v_cvt_f32_##suffix##_ocp) {                                                        \
    const auto number = static_cast<u32>(i.immediate);                                         \
    write(w, i, bits_as<F32>(floats_of_bytes<Format>(read_u32(w, i.source[0]), number)));      \
  }                                                                                            \
  OPERATION(v_cvt_pk_f32_##suffix##_ocp) {                                                     \
    const U32 both = convert<U32>(read_u16(w, i.source[0]));                                   \
    const U32 low = floats_of_bytes<Format>(both, 0), high = floats_of_bytes<Format>(both, 1); \
    write_bits(w, i, join(low, high));                                                         \
  }                                                                                            \
  OPERATION(v_cvt_pk_##suffix##_f32_ocp) {                                                     \
    const U32 low = bytes_of_floats<Format>(source<F32>(w, i, 0));                             \
    const U32 high = bytes_of_floats<Format>(source<F32>(w, i, 1));                            \
    write_bits(w, i, convert<U16>(low | high << 8));                                           \
  }
FROM_OCP_BYTES(fp8, OcpFp8)
FROM_OCP_BYTES(bf8, OcpBf8)

// Products of four pairs of bytes, added one after the other.
template <class First, class Second>
ALWAYS_INLINE void dot_of_bytes(Wave& w, const Instruction& i) {
  F32 sum = source<F32>(w, i, 2);
  for (u32 number = 0; number < 4; ++number) {
    const U32 a = floats_of_bytes<First>(read_u32(w, i.source[0]), number);
    const U32 b = floats_of_bytes<Second>(read_u32(w, i.source[1]), number);
    sum = __builtin_elementwise_fma(bits_as<F32>(a), bits_as<F32>(b), sum);
  }
  write(w, i, sum);
}
OPERATION(v_dot4_f32_fp8_fp8) { dot_of_bytes<OcpFp8, OcpFp8>(w, i); }
OPERATION(v_dot4_f32_fp8_bf8) { dot_of_bytes<OcpFp8, OcpBf8>(w, i); }
OPERATION(v_dot4_f32_bf8_fp8) { dot_of_bytes<OcpBf8, OcpFp8>(w, i); }
OPERATION(v_dot4_f32_bf8_bf8) { dot_of_bytes<OcpBf8, OcpBf8>(w, i); }

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
