// What the matrix products of RDNA3 and RDNA4 are written with.
#pragma once

#include "half_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;

constexpr int order = 16;

ALWAYS_INLINE u32 register_word(Wave& w, const Operand& operand, unsigned number, unsigned lane) {
  return place<u32>(w, operand.value + number * w.row_stride + 4 * lane);
}

struct FromHalf {
  using Element = float;
  static constexpr bool is_float = true;
  static constexpr unsigned per_word = 2;
  static inline float get(u32 word, unsigned k, bool) {
    return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<u16>(word >> (16 * k))));
  }
};
struct FromBfloat {
  using Element = float;
  static constexpr bool is_float = true;
  static constexpr unsigned per_word = 2;
  static inline float get(u32 word, unsigned k, bool) {
    return __builtin_bit_cast(float, k == 0 ? word << 16 : word & 0xFFFF'0000U);
  }
};
template <unsigned bits>
struct FromInteger {
  using Element = i32;
  static constexpr bool is_float = false;
  static constexpr unsigned per_word = 32 / bits;
  static inline i32 get(u32 word, unsigned k, bool is_signed) {
    const u32 top = word << (32 - bits * (k + 1));
    return is_signed ? static_cast<i32>(top) >> (32 - bits) : static_cast<i32>(top >> (32 - bits));
  }
};

// What neg_lo and neg_hi change of a word of factors: the signs of its low and high halves of 16
// bits.
template <class From>
ALWAYS_INLINE u32 negation_of(const Operand& operand) {
  u32 negation = 0;
  if (From::is_float && (operand.modifiers & modifier::negate) != 0) negation |= 0x8000U;
  if (From::is_float && (operand.modifiers & modifier::negate_high) != 0) negation |= 0x8000'0000U;
  return negation;
}

template <class T>
ALWAYS_INLINE T accumulate_in_order(T sum, T a, T b) {
  if constexpr (sizeof(sum[0]) == 4 && __is_same(T, F32)) {
    return __builtin_elementwise_fma(a, b, sum);
  } else {
    return sum + a * b;
  }
}

// A register of C, or an inline constant for all of them.
ALWAYS_INLINE U32 addend(Wave& w, const Operand& operand, u32 offset) {
  if (operand.kind != OperandKind::vector) return (U32)scalar_u32(w, operand);
  return place<U32>(w, operand.value + offset);
}

ALWAYS_INLINE F32 with_modifiers(const Operand& operand, F32 value) {
  if ((operand.modifiers & modifier::negate_high) != 0) value = absolute(value);
  return (operand.modifiers & modifier::negate) != 0 ? -value : value;
}

// Inline constants come as f32.
ALWAYS_INLINE bool is_constant(const Instruction& i) {
  return i.source[2].kind != OperandKind::vector;
}
// Sums of the products stay far below 2^31: only adding C can overflow.
ALWAYS_INLINE U32 added(const Instruction& i, I32 products, I32 c) {
  const U32 sum = bits_as<U32>(products), wrapped = sum + bits_as<U32>(c);
  const I32 overflow = bits_as<I32>(~(sum ^ bits_as<U32>(c)) & (sum ^ wrapped)) < 0;
  const U32 limit = (sum >> 31) + 0x7FFF'FFFFU;
  return (i.flags & flag::clamp) != 0 ? select(overflow, limit, wrapped) : wrapped;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
