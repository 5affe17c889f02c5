// Packed and mixed-precision instructions, dot products (RDNA3 ISA, 16.11 VOP3P).
#include "half_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;

// Half `high` of the result works on the half of each source that op_sel (low result) or op_sel_hi
// (high result) names.
ALWAYS_INLINE U16 packed_bits(Wave& w, const Instruction& i, int n, bool high) {
  const Operand& operand = i.source[n];
  const u32 choice = high ? modifier::select_high : modifier::high;
  const U32 value = read_u32(w, operand);
  return convert<U16>((operand.modifiers & choice) != 0 ? value >> 16 : value);
}
template <class T>
ALWAYS_INLINE T packed(Wave& w, const Instruction& i, int n, bool high) {
  return bits_as<T>(packed_bits(w, i, n, high));
}
template <>
inline __attribute__((always_inline)) F16 packed<F16>(Wave& w, const Instruction& i, int n,
                                                      bool high) {
  U16 bits = packed_bits(w, i, n, high);
  const u32 negation = high ? modifier::negate_high : modifier::negate;
  if ((i.source[n].modifiers & negation) != 0) bits ^= (u16)0x8000;
  return input_half(w, bits_as<F16>(bits));
}

ALWAYS_INLINE U16 packed_result(const Wave&, const Instruction&, U16 value) { return value; }
ALWAYS_INLINE U16 packed_result(const Wave&, const Instruction&, I16 value) {
  return bits_as<U16>(value);
}
ALWAYS_INLINE U16 packed_result(const Wave& w, const Instruction& i, F16 value) {
  value = result_half(w, value);
  if ((i.flags & flag::clamp) != 0) value = output_modifiers<F16, I16>(w, i, value);
  return bits_as<U16>(value);
}

#define PACKED(name, T, sources, expression)                     \
  OPERATION(name) {                                              \
    U16 halves[2];                                               \
    for (int high = 0; high < 2; ++high) {                       \
      sources(T) halves[high] = packed_result(w, i, expression); \
    }                                                            \
    write_bits(w, i, pack(halves[0], halves[1]));                \
  }
#define TWO(T)                               \
  const T a = packed<T>(w, i, 0, high != 0); \
  const T b = packed<T>(w, i, 1, high != 0);
#define THREE(T) \
  TWO(T)         \
  const T c = packed<T>(w, i, 2, high != 0);

// ---- 16-bit integers

ALWAYS_INLINE bool clamps(const Instruction& i) { return (i.flags & flag::clamp) != 0; }
ALWAYS_INLINE I32 wide(U16 value) { return convert<I32>(value); }
ALWAYS_INLINE I32 wide(I16 value) { return convert<I32>(value); }
ALWAYS_INLINE U16 unsigned_result(const Instruction& i, I32 exact) {
  return clamps(i) ? to_u16(exact) : convert<U16>(bits_as<U32>(exact));
}
ALWAYS_INLINE I16 signed_result(const Instruction& i, I32 exact) {
  return clamps(i) ? to_i16(exact) : convert<I16>(exact);
}
ALWAYS_INLINE U16 multiply_add(const Instruction& i, U16 a, U16 b, U16 c) {
  const U32 exact = convert<U32>(a) * convert<U32>(b) + convert<U32>(c);
  return convert<U16>(clamps(i) ? __builtin_elementwise_min(exact, (U32)0xFFFFU) : exact);
}
PACKED(v_pk_add_u16, U16, TWO, unsigned_result(i, wide(a) + wide(b)))
PACKED(v_pk_sub_u16, U16, TWO, unsigned_result(i, wide(a) - wide(b)))
PACKED(v_pk_add_i16, I16, TWO, signed_result(i, wide(a) + wide(b)))
PACKED(v_pk_sub_i16, I16, TWO, signed_result(i, wide(a) - wide(b)))
PACKED(v_pk_mul_lo_u16, U16, TWO, a* b)
PACKED(v_pk_mad_u16, U16, THREE, multiply_add(i, a, b, c))
PACKED(v_pk_mad_i16, I16, THREE, signed_result(i, wide(a) * wide(b) + wide(c)))
PACKED(v_pk_min_u16, U16, TWO, __builtin_elementwise_min(a, b))
PACKED(v_pk_max_u16, U16, TWO, __builtin_elementwise_max(a, b))
PACKED(v_pk_min_i16, I16, TWO, __builtin_elementwise_min(a, b))
PACKED(v_pk_max_i16, I16, TWO, __builtin_elementwise_max(a, b))
PACKED(v_pk_lshlrev_b16, U16, TWO, b << (a & (u16)15))
PACKED(v_pk_lshrrev_b16, U16, TWO, b >> (a & (u16)15))
PACKED(v_pk_ashrrev_i16, I16, TWO, b >> (a & (std::int16_t)15))

// ---- f16

PACKED(v_pk_add_f16, F16, TWO, narrowed(widened(a) + widened(b)))
PACKED(v_pk_mul_f16, F16, TWO, narrowed(widened(a) * widened(b)))
PACKED(v_pk_fma_f16, F16, THREE, fused(a, b, c))
PACKED(v_pk_min_f16, F16, TWO, minimum(w, a, b))
PACKED(v_pk_max_f16, F16, TWO, maximum(w, a, b))
PACKED(v_pk_minimum_f16, F16, TWO, ordered_minimum(w, a, b))
PACKED(v_pk_maximum_f16, F16, TWO, ordered_maximum(w, a, b))
PACKED(v_pk_minimum3_f16, F16, THREE, ordered_minimum(w, ordered_minimum(w, a, b), c))
PACKED(v_pk_maximum3_f16, F16, THREE, ordered_maximum(w, ordered_maximum(w, a, b), c))
// VOP2: no selects; the destination is added.
OPERATION(v_pk_fmac_f16) {
  const U32 a = read_u32(w, i.source[0]), b = read_u32(w, i.source[1]);
  const U32 c = place<U32>(w, i.destination.value);
  U16 halves[2];
  for (u32 high = 0; high < 2; ++high) {
    const auto half = [&](U32 both) {
      return input_half(w, bits_as<F16>(convert<U16>(both >> (16 * high))));
    };
    halves[high] = bits_as<U16>(result_half(w, fused(half(a), half(b), half(c))));
  }
  write_bits(w, i, pack(halves[0], halves[1]));
}

// ---- mixed precision: a source is f16 where op_sel_hi is set (its half by op_sel), else f32.
// neg_hi stands for abs.

ALWAYS_INLINE F32 mixed(Wave& w, const Instruction& i, int n) {
  const Operand& operand = i.source[n];
  const U32 raw = read_u32(w, operand);
  F32 value = bits_as<F32>(raw);
  if ((operand.modifiers & modifier::select_high) != 0) {
    const U32 half = (operand.modifiers & modifier::high) != 0 ? raw >> 16 : raw;
    value = widened(input_half(w, bits_as<F16>(convert<U16>(half))));
  }
  if ((operand.modifiers & modifier::negate_high) != 0) value = absolute(value);
  return (operand.modifiers & modifier::negate) != 0 ? -value : value;
}
OPERATION(v_fma_mix_f32) {
  write(w, i, F32(__builtin_elementwise_fma(mixed(w, i, 0), mixed(w, i, 1), mixed(w, i, 2))));
}
// Rounded to f16 once.
ALWAYS_INLINE F16 mixed_half(Wave& w, const Instruction& i) {
  const F64 a = convert<F64>(mixed(w, i, 0)), b = convert<F64>(mixed(w, i, 1));
  const F64 c = convert<F64>(mixed(w, i, 2));
  F16 value = result_half(w, narrowed(__builtin_elementwise_fma(a, b, c)));
  if ((i.flags & flag::clamp) != 0) value = output_modifiers<F16, I16>(w, i, value);
  return value;
}
OPERATION(v_fma_mixlo_f16) {
  const U32 old = place<U32>(w, i.destination.value);
  const U32 half = convert<U32>(bits_as<U16>(mixed_half(w, i)));
  write_bits(w, i, (old & 0xFFFF'0000U) | half);
}
OPERATION(v_fma_mixhi_f16) {
  const U32 old = place<U32>(w, i.destination.value);
  const U32 half = convert<U32>(bits_as<U16>(mixed_half(w, i)));
  write_bits(w, i, (old & 0xFFFFU) | half << 16);
}

// ---- dot products of integers: neg says that a source is signed

template <int bits>
ALWAYS_INLINE I32 element(U32 value, u32 number, bool is_signed) {
  const U32 top = value << (32 - bits * (number + 1));
  return is_signed ? bits_as<I32>(top) >> (32 - bits) : bits_as<I32>(top >> (32 - bits));
}
template <int bits>
ALWAYS_INLINE I64 dot(U32 a, U32 b, bool a_signed, bool b_signed) {
  I32 sum = 0;
  for (u32 k = 0; k < 32 / bits; ++k) {
    sum += element<bits>(a, k, a_signed) * element<bits>(b, k, b_signed);
  }
  return convert<I64>(sum);
}
template <int bits>
ALWAYS_INLINE void dot_signed(Wave& w, const Instruction& i) {
  const bool a_signed = (i.source[0].modifiers & modifier::negate) != 0;
  const bool b_signed = (i.source[1].modifiers & modifier::negate) != 0;
  const I64 sum =
      dot<bits>(read_u32(w, i.source[0]), read_u32(w, i.source[1]), a_signed, b_signed) +
      convert<I64>(source<I32>(w, i, 2));
  const I64 upper = sum > (I64)0x7FFF'FFFFLL ? (I64)0x7FFF'FFFFLL : sum;
  const I64 saturated = upper < (I64)-0x8000'0000LL ? (I64)-0x8000'0000LL : upper;
  write(w, i, convert<U32>(bits_as<U64>(clamps(i) ? saturated : sum)));
}
template <int bits>
ALWAYS_INLINE void dot_unsigned(Wave& w, const Instruction& i) {
  const U64 sum =
      bits_as<U64>(dot<bits>(read_u32(w, i.source[0]), read_u32(w, i.source[1]), false, false)) +
      convert<U64>(read_u32(w, i.source[2]));
  const U64 saturated = sum > (U64)0xFFFF'FFFFULL ? (U64)0xFFFF'FFFFULL : sum;
  write(w, i, convert<U32>(clamps(i) ? saturated : sum));
}
OPERATION(v_dot4_i32_iu8) { dot_signed<8>(w, i); }
OPERATION(v_dot8_i32_iu4) { dot_signed<4>(w, i); }
// gfx9: both signed. The sum is that of 32 bits, or limited.
template <int bits>
ALWAYS_INLINE I64 dot_of_signed(Wave& w, const Instruction& i) {
  return dot<bits>(read_u32(w, i.source[0]), read_u32(w, i.source[1]), true, true);
}
ALWAYS_INLINE U32 signed_sum(const Instruction& i, I64 products, U32 c) {
  const I64 sum = products + convert<I64>(bits_as<I32>(c));
  const I64 upper = sum > (I64)0x7FFF'FFFFLL ? (I64)0x7FFF'FFFFLL : sum;
  const I64 saturated = upper < (I64)-0x8000'0000LL ? (I64)-0x8000'0000LL : upper;
  return convert<U32>(bits_as<U64>(clamps(i) ? saturated : sum));
}
#define DOT_SIGNED(name, accumulating, bits)                                                  \
  OPERATION(name) {                                                                           \
    write_bits(w, i, signed_sum(i, dot_of_signed<bits>(w, i), read_u32(w, i.source[2])));     \
  }                                                                                           \
  OPERATION(accumulating) {                                                                   \
    write_bits(w, i,                                                                          \
               signed_sum(i, dot_of_signed<bits>(w, i), place<U32>(w, i.destination.value))); \
  }
DOT_SIGNED(v_dot4_i32_i8, v_dot4c_i32_i8, 8)
DOT_SIGNED(v_dot8_i32_i4, v_dot8c_i32_i4, 4)
// Products of 16 bits need more than 32 for their sum; op_sel and op_sel_hi choose the halves.
ALWAYS_INLINE I64 pair_of_signed(Wave& w, const Instruction& i) {
  const auto product = [&](bool high) {
    return convert<I64>(packed<I16>(w, i, 0, high)) * convert<I64>(packed<I16>(w, i, 1, high));
  };
  return product(false) + product(true);
}
OPERATION(v_dot2_i32_i16) {
  write_bits(w, i, signed_sum(i, pair_of_signed(w, i), read_u32(w, i.source[2])));
}
OPERATION(v_dot2c_i32_i16) {
  const U32 a = read_u32(w, i.source[0]), b = read_u32(w, i.source[1]);
  const I64 low =
      convert<I64>(bits_as<I32>(a << 16) >> 16) * convert<I64>(bits_as<I32>(b << 16) >> 16);
  const I64 high = convert<I64>(bits_as<I32>(a) >> 16) * convert<I64>(bits_as<I32>(b) >> 16);
  write_bits(w, i, signed_sum(i, low + high, place<U32>(w, i.destination.value)));
}
OPERATION(v_dot2_u32_u16) {
  const auto product = [&](bool high) {
    return convert<U64>(packed<U16>(w, i, 0, high)) * convert<U64>(packed<U16>(w, i, 1, high));
  };
  const U64 sum = product(false) + product(true) + convert<U64>(read_u32(w, i.source[2]));
  const U64 saturated = sum > (U64)0xFFFF'FFFFULL ? (U64)0xFFFF'FFFFULL : sum;
  write_bits(w, i, convert<U32>(clamps(i) ? saturated : sum));
}
OPERATION(v_dot4_u32_u8) { dot_unsigned<8>(w, i); }
OPERATION(v_dot8_u32_u4) { dot_unsigned<4>(w, i); }

// ---- dot products of two pairs of halves: products and sums in order, in f32

ALWAYS_INLINE F32 half_value(Wave& w, const Instruction& i, int n, bool high) {
  return widened(packed<F16>(w, i, n, high));
}
ALWAYS_INLINE F32 bfloat_value(Wave& w, const Instruction& i, int n, bool high) {
  U32 bits = convert<U32>(packed_bits(w, i, n, high)) << 16;
  const u32 negation = high ? modifier::negate_high : modifier::negate;
  if ((i.source[n].modifiers & negation) != 0) bits ^= 0x8000'0000U;
  return bits_as<F32>(bits);
}
ALWAYS_INLINE F32 dot_of_pairs(F32 a0, F32 b0, F32 a1, F32 b1, F32 c) {
  return __builtin_elementwise_fma(a1, b1, __builtin_elementwise_fma(a0, b0, c));
}
OPERATION(v_dot2_f32_f16) {
  write(w, i,
        dot_of_pairs(half_value(w, i, 0, false), half_value(w, i, 1, false),
                     half_value(w, i, 0, true), half_value(w, i, 1, true), source<F32>(w, i, 2)));
}
OPERATION(v_dot2_f32_bf16) {
  write(
      w, i,
      dot_of_pairs(bfloat_value(w, i, 0, false), bfloat_value(w, i, 1, false),
                   bfloat_value(w, i, 0, true), bfloat_value(w, i, 1, true), source<F32>(w, i, 2)));
}
// VOP2 and VOP3: both halves of each source, no selects.
ALWAYS_INLINE F32 plain_half(Wave& w, const Instruction& i, int n, u32 high) {
  U32 both = read_u32(w, i.source[n]);
  const std::uint8_t modifiers = i.source[n].modifiers;
  if ((modifiers & modifier::absolute) != 0) both &= 0x7FFF'7FFFU;
  if ((modifiers & modifier::negate) != 0) both ^= 0x8000'8000U;
  return widened(input_half(w, bits_as<F16>(convert<U16>(both >> (16 * high)))));
}
OPERATION(v_dot2acc_f32_f16) {
  write(w, i,
        dot_of_pairs(plain_half(w, i, 0, 0), plain_half(w, i, 1, 0), plain_half(w, i, 0, 1),
                     plain_half(w, i, 1, 1), place<F32>(w, i.destination.value)));
}
OPERATION(v_dot2_f16_f16) {
  const F32 sum =
      dot_of_pairs(plain_half(w, i, 0, 0), plain_half(w, i, 1, 0), plain_half(w, i, 0, 1),
                   plain_half(w, i, 1, 1), widened(half_source(w, i, 2)));
  write(w, i, result_half(w, narrowed(sum)));
}
ALWAYS_INLINE F32 plain_bfloat(Wave& w, const Instruction& i, int n, u32 high) {
  const U32 both = read_u32(w, i.source[n]);
  U32 bits = high != 0 ? both & 0xFFFF'0000U : both << 16;
  const std::uint8_t modifiers = i.source[n].modifiers;
  if ((modifiers & modifier::absolute) != 0) bits &= 0x7FFF'FFFFU;
  if ((modifiers & modifier::negate) != 0) bits ^= 0x8000'0000U;
  return bits_as<F32>(bits);
}
OPERATION(v_dot2acc_f32_bf16) {
  write(w, i,
        dot_of_pairs(plain_bfloat(w, i, 0, 0), plain_bfloat(w, i, 1, 0), plain_bfloat(w, i, 0, 1),
                     plain_bfloat(w, i, 1, 1), place<F32>(w, i.destination.value)));
}
OPERATION(v_dot2_bf16_bf16) {
  const U32 c = convert<U32>(read_u16(w, i.source[2])) << 16;
  const F32 sum = dot_of_pairs(plain_bfloat(w, i, 0, 0), plain_bfloat(w, i, 1, 0),
                               plain_bfloat(w, i, 0, 1), plain_bfloat(w, i, 1, 1), bits_as<F32>(c));
  write_bits(w, i, convert<U16>(bfloat_of(sum)));
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
