// gfx950: floating point of 4, 6 and 8 bits to larger formats, times a power of two (CDNA4
// ISA, 12.10 VOP3). The power is the scale's exponent field; its largest value makes all results
// NaN, as in the Open Compute Project's "Microscaling Formats (MX) Specification", revision 1.0,
// whose formats these are. Conversions the other way are not here: their rounding and overflow are
// not in the manual.
#include "byte_float.hpp"
#include "half_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Without infinities and NaN.
template <int exponent_bits, int mantissa_bits, int bias>
struct Small {
  static constexpr unsigned bits = 1 + exponent_bits + mantissa_bits;
  static inline float get(u32 code) {
    const u32 exponent = code >> mantissa_bits & ((1U << exponent_bits) - 1);
    const u32 mantissa = code & ((1U << mantissa_bits) - 1);
    const u32 significand = exponent == 0 ? mantissa : mantissa | 1U << mantissa_bits;
    const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - bias - mantissa_bits;
    const float unit = __builtin_bit_cast(float, static_cast<u32>(power + 127) << 23);
    const float magnitude = static_cast<float>(significand) * unit;
    return (code >> (bits - 1) & 1) != 0 ? -magnitude : magnitude;
  }
};
using Fp4 = Small<2, 1, 1>;
using Fp6 = Small<2, 3, 1>;
using Bf6 = Small<3, 2, 3>;

template <class Format>
struct Eight {
  static constexpr unsigned bits = 8;
  static inline float get(u32 code) { return float_of_byte<Format>(code & 0xFF); }
};
using Fp8Of = Eight<OcpFp8>;
using Bf8Of = Eight<OcpBf8>;

// Exact but for what is too large or too small for f32.
ALWAYS_INLINE float scaled(float value, u32 scale) {
  const u32 exponent = scale >> 23 & 0xFF;
  if (exponent == 0xFF) return __builtin_nanf("");
  const u64 power = u64{exponent + 1023 - 127} << 52;
  return static_cast<float>(static_cast<double>(value) * __builtin_bit_cast(double, power));
}

// Elements `number` of each lane's registers, which begin at bit `first` of them.
template <class Format>
ALWAYS_INLINE F32 elements(Wave& w, const Instruction& i, unsigned number, unsigned first) {
  const auto scales = bits_as<Row>(read_u32(w, i.source[1]));
  const unsigned at = first + number * Format::bits;
  const Operand& from = i.source[0];
  const bool in_registers = from.kind == OperandKind::vector;
  const auto low = bits_as<Row>(in_registers ? place<U32>(w, from.value + at / 32 * w.row_stride)
                                             : read_u32(w, from));
  const unsigned last = (at + Format::bits - 1) / 32;
  const auto high = last == at / 32 || !in_registers
                        ? Row{}
                        : bits_as<Row>(place<U32>(w, from.value + last * w.row_stride));
  Row found;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const u64 both = u64{low.lane[lane]} | u64{high.lane[lane]} << 32;
    const float value = Format::get(static_cast<u32>(both >> at % 32));
    found.lane[lane] = __builtin_bit_cast(u32, scaled(value, scales.lane[lane]));
  }
  return bits_as<F32>(found);
}

ALWAYS_INLINE U32 half_bits(Wave& w, F32 value) {
  return convert<U32>(bits_as<U16>(result_half(w, narrowed(value))));
}
ALWAYS_INLINE U32 bfloat_bits(Wave&, F32 value) { return bfloat_of(value) & 0xFFFFU; }

// OPSEL as the decoder packs it: its lowest bits choose the half or byte to begin with.
ALWAYS_INLINE unsigned chosen_half(const Instruction& i) { return (i.immediate & 1) * 16; }
ALWAYS_INLINE unsigned chosen_byte(const Instruction& i) { return (i.immediate & 3) * 8; }

#define SINGLES(name, Format, first)                                    \
  OPERATION(name) {                                                     \
    const U32 low = bits_as<U32>(elements<Format>(w, i, 0, first(i)));  \
    const U32 high = bits_as<U32>(elements<Format>(w, i, 1, first(i))); \
    write_bits(w, i, join(low, high));                                  \
  }
SINGLES(v_cvt_scalef32_pk_f32_fp8, Fp8Of, chosen_half)
SINGLES(v_cvt_scalef32_pk_f32_bf8, Bf8Of, chosen_half)
SINGLES(v_cvt_scalef32_pk_f32_fp4, Fp4, chosen_byte)

#define PAIR(name, Format, first, as)                                   \
  OPERATION(name) {                                                     \
    const U32 low = as(w, elements<Format>(w, i, 0, first(i)));         \
    const U32 high = as(w, elements<Format>(w, i, 1, first(i)));        \
    write_row(w, exec_of(w, i), i.destination.value, low | high << 16); \
  }
PAIR(v_cvt_scalef32_pk_f16_fp8, Fp8Of, chosen_half, half_bits)
PAIR(v_cvt_scalef32_pk_f16_bf8, Bf8Of, chosen_half, half_bits)
PAIR(v_cvt_scalef32_pk_f16_fp4, Fp4, chosen_byte, half_bits)
PAIR(v_cvt_scalef32_pk_bf16_fp8, Fp8Of, chosen_half, bfloat_bits)
PAIR(v_cvt_scalef32_pk_bf16_bf8, Bf8Of, chosen_half, bfloat_bits)
PAIR(v_cvt_scalef32_pk_bf16_fp4, Fp4, chosen_byte, bfloat_bits)

OPERATION(v_cvt_scalef32_f32_fp8) {
  write_bits(w, i, bits_as<U32>(elements<Fp8Of>(w, i, 0, chosen_byte(i))));
}
OPERATION(v_cvt_scalef32_f32_bf8) {
  write_bits(w, i, bits_as<U32>(elements<Bf8Of>(w, i, 0, chosen_byte(i))));
}
OPERATION(v_cvt_scalef32_f16_fp8) {
  write_bits(w, i, convert<U16>(half_bits(w, elements<Fp8Of>(w, i, 0, chosen_byte(i)))));
}
OPERATION(v_cvt_scalef32_f16_bf8) {
  write_bits(w, i, convert<U16>(half_bits(w, elements<Bf8Of>(w, i, 0, chosen_byte(i)))));
}

// 32 elements of 6 bits in six registers. All are read first: results may overwrite them.
template <class Format>
ALWAYS_INLINE void all_elements(Wave& w, const Instruction& i, F32 (&values)[32]) {
  for (unsigned k = 0; k < 32; ++k) values[k] = elements<Format>(w, i, k, 0);
}
#define MANY_SINGLES(name, Format)                                                         \
  OPERATION(name) {                                                                        \
    F32 values[32];                                                                        \
    all_elements<Format>(w, i, values);                                                    \
    const u32 exec = exec_of(w, i);                                                        \
    for (unsigned k = 0; k < 32; ++k) {                                                    \
      write_row(w, exec, i.destination.value + k * w.row_stride, bits_as<U32>(values[k])); \
    }                                                                                      \
  }
MANY_SINGLES(v_cvt_scalef32_pk32_f32_fp6, Fp6)
MANY_SINGLES(v_cvt_scalef32_pk32_f32_bf6, Bf6)
#define MANY_PAIRS(name, Format, as)                                          \
  OPERATION(name) {                                                           \
    F32 values[32];                                                           \
    all_elements<Format>(w, i, values);                                       \
    const u32 exec = exec_of(w, i);                                           \
    for (unsigned k = 0; k < 16; ++k) {                                       \
      const U32 both = as(w, values[2 * k]) | as(w, values[2 * k + 1]) << 16; \
      write_row(w, exec, i.destination.value + k * w.row_stride, both);       \
    }                                                                         \
  }
MANY_PAIRS(v_cvt_scalef32_pk32_f16_fp6, Fp6, half_bits)
MANY_PAIRS(v_cvt_scalef32_pk32_f16_bf6, Bf6, half_bits)
MANY_PAIRS(v_cvt_scalef32_pk32_bf16_fp6, Fp6, bfloat_bits)
MANY_PAIRS(v_cvt_scalef32_pk32_bf16_bf6, Bf6, bfloat_bits)

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
