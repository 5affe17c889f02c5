// Matrix products of 16 x 16 x 16 by a whole wave (RDNA3 ISA, 7.9 WMMA).
//
// Lane n mod 16 holds row n of A and column n of B, sixteen elements in consecutive registers; the
// other groups of sixteen lanes hold copies. Of C and D, lane n holds column n mod 16: register r
// the row 2 r + n / 16 (in a wave of 64: 4 r + n / 16). EXEC does not matter.
#include "matrix_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

template <class T>
struct Tile {
  T at[order][order];  // rows of A, or columns of B
};

// neg_lo and neg_hi negate the low and high halves of floats; neg_lo says that integers are signed.
template <class From>
ALWAYS_INLINE Tile<typename From::Element> read_tile(Wave& w, const Operand& operand) {
  const bool is_signed = (operand.modifiers & modifier::negate) != 0;
  const u32 negation = negation_of<From>(operand);
  Tile<typename From::Element> tile;
  for (unsigned lane = 0; lane < order; ++lane) {
    for (unsigned k = 0; k < order; ++k) {
      const u32 word = register_word(w, operand, k / From::per_word, lane) ^ negation;
      tile.at[lane][k] = From::get(word, k % From::per_word, is_signed);
    }
  }
  return tile;
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
      [&](F32 sum, U32 old) { return merged(i, bfloat_of(sum), old); });
}

template <unsigned bits>
ALWAYS_INLINE void to_i32(Wave& w, const Instruction& i) {
  const auto a = read_tile<FromInteger<bits>>(w, i.source[0]);
  const auto b = read_tile<FromInteger<bits>>(w, i.source[1]);
  I32 addends;
  multiply<I32>(
      w, i, a, b,
      [&](U32 c) {
        addends = bits_as<I32>(c);
        return (I32)0;
      },
      [&](I32 sum, U32) { return added(i, sum, addends); });
}
OPERATION(v_wmma_i32_16x16x16_iu8) { to_i32<8>(w, i); }
OPERATION(v_wmma_i32_16x16x16_iu4) { to_i32<4>(w, i); }

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
