// Matrix products of 16 x 16 x 16 by a whole wave (RDNA3 ISA, 7.9 WMMA).
//
// Lane n mod 16 holds row n of A and column n of B, sixteen elements in consecutive registers; the
// other groups of sixteen lanes hold copies. Of C and D, lane n holds column n mod 16: register r
// the row 2 r + n / 16 (in a wave of 64: 4 r + n / 16). EXEC does not matter.
#include "half_common.hpp"

namespace cass::rdna3::CASS_RDNA3_LEVEL {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;

constexpr int order = 16;

template <class T>
struct Tile {
  T at[order][order];  // rows of A, or columns of B
};

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

// neg_lo and neg_hi negate the low and high halves of floats; neg_lo says that integers are signed.
template <class From>
ALWAYS_INLINE Tile<typename From::Element> read_tile(Wave& w, const Operand& operand) {
  const bool is_signed = (operand.modifiers & modifier::negate) != 0;
  u32 negation = 0;
  if (From::is_float && is_signed) negation |= 0x8000U;
  if (From::is_float && (operand.modifiers & modifier::negate_high) != 0) negation |= 0x8000'0000U;
  Tile<typename From::Element> tile;
  for (unsigned lane = 0; lane < order; ++lane) {
    for (unsigned k = 0; k < order; ++k) {
      const u32 word = register_word(w, operand, k / From::per_word, lane) ^ negation;
      tile.at[lane][k] = From::get(word, k % From::per_word, is_signed);
    }
  }
  return tile;
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

// For each register of the result: start(C's register), sixteen steps, finish(sum, D's old value).
// C is read before D is written, register by register: they may be the same ones.
template <class Lanes, class T, class Start, class Finish>
ALWAYS_INLINE void multiply(Wave& w, const Instruction& i, const Tile<T>& a, const Tile<T>& b,
                            Start start, Finish finish) {
  const unsigned halves = w.wide ? 2 : 1;
  const unsigned registers = 8 / halves;
  Lanes columns[order];
  for (int k = 0; k < order; ++k) {
    for (int lane = 0; lane < 32; ++lane) columns[k][lane] = b.at[lane % order][k];
  }
  const I32 lower = lane_numbers < 16U;
  for (unsigned r = 0; r < registers; ++r) {
    for (unsigned half = 0; half < halves; ++half) {
      const unsigned row = 2 * halves * r + 2 * half;
      const u32 offset = r * w.row_stride + half * static_cast<u32>(sizeof(Row));
      Lanes sum = start(addend(w, i.source[2], offset));
      for (int k = 0; k < order; ++k) {
        const Lanes factor = lower ? (Lanes)a.at[row][k] : (Lanes)a.at[row + 1][k];
        sum = accumulate_in_order(sum, factor, columns[k]);
      }
      U32& result = place<U32>(w, i.destination.value + offset);
      result = finish(sum, result);
    }
  }
}

ALWAYS_INLINE F32 with_modifiers(const Operand& operand, F32 value) {
  if ((operand.modifiers & modifier::negate_high) != 0) value = absolute(value);
  return (operand.modifiers & modifier::negate) != 0 ? -value : value;
}

template <class From>
ALWAYS_INLINE void to_f32(Wave& w, const Instruction& i) {
  const auto a = read_tile<From>(w, i.source[0]);
  const auto b = read_tile<From>(w, i.source[1]);
  multiply<F32>(
      w, i, a, b, [&](U32 c) { return with_modifiers(i.source[2], bits_as<F32>(c)); },
      [](F32 sum, U32) { return bits_as<U32>(sum); });
}
OPERATION(v_wmma_f32_16x16x16_f16) { to_f32<FromHalf>(w, i); }
OPERATION(v_wmma_f32_16x16x16_bf16) { to_f32<FromBfloat>(w, i); }

// Results of 16 bits lie in the half that op_sel's third bit names; the other half stays.
ALWAYS_INLINE bool in_high_half(const Instruction& i) {
  return (i.source[2].modifiers & modifier::high) != 0;
}
ALWAYS_INLINE U32 chosen_half(const Instruction& i, U32 both) {
  return in_high_half(i) ? both >> 16 : both & 0xFFFFU;
}
// Inline constants come as f32.
ALWAYS_INLINE bool is_constant(const Instruction& i) {
  return i.source[2].kind != OperandKind::vector;
}
ALWAYS_INLINE U32 merged(const Instruction& i, U32 half, U32 old) {
  return in_high_half(i) ? (old & 0xFFFFU) | half << 16 : (old & 0xFFFF'0000U) | half;
}
OPERATION(v_wmma_f16_16x16x16_f16) {
  const auto a = read_tile<FromHalf>(w, i.source[0]);
  const auto b = read_tile<FromHalf>(w, i.source[1]);
  multiply<F32>(
      w, i, a, b,
      [&](U32 c) {
        const F32 value = widened(bits_as<F16>(convert<U16>(chosen_half(i, c))));
        return with_modifiers(i.source[2], is_constant(i) ? bits_as<F32>(c) : value);
      },
      [&](F32 sum, U32 old) { return merged(i, convert<U32>(bits_as<U16>(narrowed(sum))), old); });
}
OPERATION(v_wmma_bf16_16x16x16_bf16) {
  const auto a = read_tile<FromBfloat>(w, i.source[0]);
  const auto b = read_tile<FromBfloat>(w, i.source[1]);
  multiply<F32>(
      w, i, a, b,
      [&](U32 c) {
        const F32 value = bits_as<F32>(is_constant(i) ? c : chosen_half(i, c) << 16);
        return with_modifiers(i.source[2], value);
      },
      [&](F32 sum, U32 old) {
        const U32 bits = bits_as<U32>(sum);
        const U32 rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
        return merged(i, select(is_nan(sum), bits >> 16 | 0x40U, rounded), old);
      });
}

// Sums of the products stay far below 2^31: only adding C can overflow.
template <unsigned bits>
ALWAYS_INLINE void to_i32(Wave& w, const Instruction& i) {
  const auto a = read_tile<FromInteger<bits>>(w, i.source[0]);
  const auto b = read_tile<FromInteger<bits>>(w, i.source[1]);
  const bool clamps = (i.flags & flag::clamp) != 0;
  I32 added;
  multiply<I32>(
      w, i, a, b,
      [&](U32 c) {
        added = bits_as<I32>(c);
        return (I32)0;
      },
      [&](I32 sum, U32) {
        const U32 wrapped = bits_as<U32>(sum) + bits_as<U32>(added);
        const I32 overflow =
            bits_as<I32>(~bits_as<U32>(sum ^ added) & (bits_as<U32>(sum) ^ wrapped)) < 0;
        const U32 limit = (bits_as<U32>(sum) >> 31) + 0x7FFF'FFFFU;
        return clamps ? select(overflow, limit, wrapped) : wrapped;
      });
}
OPERATION(v_wmma_i32_16x16x16_iu8) { to_i32<8>(w, i); }
OPERATION(v_wmma_i32_16x16x16_iu4) { to_i32<4>(w, i); }

}  // namespace
}  // namespace cass::rdna3::CASS_RDNA3_LEVEL
