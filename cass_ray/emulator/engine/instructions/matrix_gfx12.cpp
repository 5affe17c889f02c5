// Matrix products of 16 x 16 by a whole wave on gfx12 (RDNA4 ISA, 7.9 WMMA and SWMMAC).
//
// Lane n holds elements of row n mod 16 of A and of column n mod 16 of B; the groups of sixteen
// lanes share the depth among them. Of C and D, lane n holds column n mod 16: of the rows, group g
// has 8 (g mod 2) + 4 (g / 2) and those that follow, in consecutive registers or halves of them.
// Which elements of the depth a group has is the same for A and B, so that dense products do not
// show it; sparse ones are laid out as AMD's "matrix instruction calculator" says. EXEC does not
// matter.
#include "byte_float.hpp"
#include "matrix_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

template <class Format>
struct FromByte {
  using Element = float;
  static constexpr bool is_float = false;  // no halves of 16 bits to negate
  static constexpr unsigned per_word = 4;
  static inline float get(u32 word, unsigned k, bool) {
    return float_of_byte<Format>(word >> (8 * k) & 0xFF);
  }
};

template <class T, unsigned depth>
struct Factors {
  T at[order][depth];  // rows of A, or columns of B
};

// Groups of lanes that hold a matrix of which a lane has `words` registers in a wave of 32 lanes:
// one is not divided any further.
ALWAYS_INLINE unsigned groups_of(const Wave& w, unsigned words) {
  return w.wide && words > 1 ? 4 : 2;
}
// Where a group's part of the depth begins.
ALWAYS_INLINE unsigned first_of(unsigned depth, unsigned group, unsigned groups) {
  return groups == 2 ? group * (depth / 2) : group % 2 * (depth / 2) + group / 2 * (depth / 4);
}

template <class From>
struct Reader {
  Wave& w;
  const Operand& operand;
  const bool is_signed = (operand.modifiers & modifier::negate) != 0;
  const u32 negation = negation_of<From>(operand);

  typename From::Element get(unsigned element, unsigned lane) const {
    const u32 word = register_word(w, operand, element / From::per_word, lane) ^ negation;
    return From::get(word, element % From::per_word, is_signed);
  }
};

// What `operand` holds, where `column(first, e, lane)` says that element e of a lane belongs whose
// part of the depth begins at `first`. `stored` elements of the depth are there, or all of them.
template <class From, unsigned depth, unsigned stored, class Column>
ALWAYS_INLINE auto matrix_of(Wave& w, const Operand& operand, Column column) {
  const Reader<From> reader{w, operand};
  const unsigned groups = groups_of(w, stored / 2 / From::per_word);
  Factors<typename From::Element, depth> factors = {};
  for (unsigned lane = 0; lane < groups * order; ++lane) {
    const unsigned first = first_of(depth, lane / order, groups);
    for (unsigned e = 0; e < stored / groups; ++e) {
      factors.at[lane % order][column(first, e, lane)] = reader.get(e, lane);
    }
  }
  return factors;
}

// All of a matrix.
template <class From, unsigned depth>
ALWAYS_INLINE auto whole_matrix(Wave& w, const Operand& operand) {
  return matrix_of<From, depth, depth>(
      w, operand, [](unsigned first, unsigned e, unsigned) { return first + e; });
}

// Of each four consecutive elements two are there, in order; two bits for each say which. op_sel
// names the part of the index register where a lane's bits are.
template <class From, unsigned depth>
ALWAYS_INLINE auto half_of_matrix(Wave& w, const Instruction& i) {
  const unsigned stored = depth / groups_of(w, depth / 4 / From::per_word) / 2;
  const unsigned key = ((i.source[0].modifiers & modifier::high) != 0 ? 1U : 0U) |
                       ((i.source[1].modifiers & modifier::high) != 0 ? 2U : 0U);
  const unsigned shift = key * 2 * stored % 32;
  return matrix_of<From, depth, depth / 2>(
      w, i.source[0], [&](unsigned first, unsigned e, unsigned lane) {
        const u32 indices = register_word(w, i.source[2], 0, lane) >> shift;
        return first + e / 2 * 4 + (indices >> (2 * e) & 3);
      });
}

// Row `number` of those that each lane has, `half` of the wave: the sum over the depth.
template <class Lanes, class T, unsigned depth>
ALWAYS_INLINE Lanes row_of_product(const Factors<T, depth>& a, const Factors<T, depth>& b,
                                   unsigned number, unsigned half, Lanes sum) {
  const unsigned row = 4 * half + number;
  const I32 lower = lane_numbers < 16U;
  for (unsigned k = 0; k < depth; ++k) {
    Lanes column;
    for (unsigned lane = 0; lane < lanes; ++lane) column[lane] = b.at[lane % order][k];
    const Lanes factor = lower ? (Lanes)a.at[row][k] : (Lanes)a.at[row + 8][k];
    sum = accumulate_in_order(sum, factor, column);
  }
  return sum;
}

// For each register of the result: its value from C's and the row's number.
template <class Compute>
ALWAYS_INLINE void each_register(Wave& w, const Instruction& i, const Operand& c,
                                 unsigned rows_per_register, Compute compute) {
  const unsigned halves = w.wide ? 2 : 1;
  const unsigned registers = 8 / halves / rows_per_register;
  for (unsigned r = 0; r < registers; ++r) {
    for (unsigned half = 0; half < halves; ++half) {
      const u32 offset = r * w.row_stride + half * static_cast<u32>(sizeof(Row));
      place<U32>(w, i.destination.value + offset) =
          compute(addend(w, c, offset), r * rows_per_register, half);
    }
  }
}

template <class T, unsigned depth>
ALWAYS_INLINE void into_f32(Wave& w, const Instruction& i, const Operand& c, bool modified,
                            const Factors<T, depth>& a, const Factors<T, depth>& b) {
  each_register(w, i, c, 1, [&](U32 old, unsigned row, unsigned half) {
    const F32 start = modified ? with_modifiers(c, bits_as<F32>(old)) : bits_as<F32>(old);
    return bits_as<U32>(row_of_product<F32>(a, b, row, half, start));
  });
}

template <class T, unsigned depth>
ALWAYS_INLINE void into_i32(Wave& w, const Instruction& i, const Operand& c, bool,
                            const Factors<T, depth>& a, const Factors<T, depth>& b) {
  each_register(w, i, c, 1, [&](U32 old, unsigned row, unsigned half) {
    return added(i, row_of_product<I32>(a, b, row, half, (I32)0), bits_as<I32>(old));
  });
}

struct AsHalf {
  static inline F32 read(U32 bits) { return widened(bits_as<F16>(convert<U16>(bits))); }
  static inline U32 write(F32 value) { return convert<U32>(bits_as<U16>(narrowed(value))); }
};
struct AsBfloat {
  static inline F32 read(U32 bits) { return bits_as<F32>(bits << 16); }
  static inline U32 write(F32 value) { return bfloat_of(value) & 0xFFFFU; }
};
// Two rows in each register. Inline constants come as f32.
template <class As, class T, unsigned depth>
ALWAYS_INLINE void into_halves(Wave& w, const Instruction& i, const Operand& c, bool modified,
                               const Factors<T, depth>& a, const Factors<T, depth>& b) {
  const bool constant = c.kind != OperandKind::vector;
  each_register(w, i, c, 2, [&](U32 old, unsigned row, unsigned half) {
    U32 result = (U32)0U;
    for (unsigned part = 0; part < 2; ++part) {
      const U32 bits = old >> (16 * part) & 0xFFFFU;
      F32 start = constant ? bits_as<F32>(old) : As::read(bits);
      if (modified) start = with_modifiers(c, start);
      result |= As::write(row_of_product<F32>(a, b, row + part, half, start)) << (16 * part);
    }
    return result;
  });
}

#define WMMA(name, depth, FromA, FromB, into)                                 \
  OPERATION(name) {                                                           \
    into(w, i, i.source[2], true, whole_matrix<FromA, depth>(w, i.source[0]), \
         whole_matrix<FromB, depth>(w, i.source[1]));                         \
  }
WMMA(v_wmma_f32_16x16x16_f16_gfx12, 16, FromHalf, FromHalf, into_f32)
WMMA(v_wmma_f32_16x16x16_bf16_gfx12, 16, FromBfloat, FromBfloat, into_f32)
WMMA(v_wmma_f16_16x16x16_f16_gfx12, 16, FromHalf, FromHalf, into_halves<AsHalf>)
WMMA(v_wmma_bf16_16x16x16_bf16_gfx12, 16, FromBfloat, FromBfloat, into_halves<AsBfloat>)
WMMA(v_wmma_i32_16x16x16_iu8_gfx12, 16, FromInteger<8>, FromInteger<8>, into_i32)
WMMA(v_wmma_i32_16x16x16_iu4_gfx12, 16, FromInteger<4>, FromInteger<4>, into_i32)
WMMA(v_wmma_i32_16x16x32_iu4_gfx12, 32, FromInteger<4>, FromInteger<4>, into_i32)
WMMA(v_wmma_f32_16x16x16_fp8_fp8_gfx12, 16, FromByte<OcpFp8>, FromByte<OcpFp8>, into_f32)
WMMA(v_wmma_f32_16x16x16_fp8_bf8_gfx12, 16, FromByte<OcpFp8>, FromByte<OcpBf8>, into_f32)
WMMA(v_wmma_f32_16x16x16_bf8_fp8_gfx12, 16, FromByte<OcpBf8>, FromByte<OcpFp8>, into_f32)
WMMA(v_wmma_f32_16x16x16_bf8_bf8_gfx12, 16, FromByte<OcpBf8>, FromByte<OcpBf8>, into_f32)

// The destination is C.
#define SWMMAC(name, depth, FromA, FromB, into)              \
  OPERATION(name) {                                          \
    Operand c = i.destination;                               \
    c.kind = OperandKind::vector;                            \
    into(w, i, c, false, half_of_matrix<FromA, depth>(w, i), \
         whole_matrix<FromB, depth>(w, i.source[1]));        \
  }
SWMMAC(v_swmmac_f32_16x16x32_f16, 32, FromHalf, FromHalf, into_f32)
SWMMAC(v_swmmac_f32_16x16x32_bf16, 32, FromBfloat, FromBfloat, into_f32)
SWMMAC(v_swmmac_f16_16x16x32_f16, 32, FromHalf, FromHalf, into_halves<AsHalf>)
SWMMAC(v_swmmac_bf16_16x16x32_bf16, 32, FromBfloat, FromBfloat, into_halves<AsBfloat>)
SWMMAC(v_swmmac_i32_16x16x32_iu8, 32, FromInteger<8>, FromInteger<8>, into_i32)
SWMMAC(v_swmmac_i32_16x16x32_iu4, 32, FromInteger<4>, FromInteger<4>, into_i32)
SWMMAC(v_swmmac_i32_16x16x64_iu4, 64, FromInteger<4>, FromInteger<4>, into_i32)
SWMMAC(v_swmmac_f32_16x16x32_fp8_fp8, 32, FromByte<OcpFp8>, FromByte<OcpFp8>, into_f32)
SWMMAC(v_swmmac_f32_16x16x32_fp8_bf8, 32, FromByte<OcpFp8>, FromByte<OcpBf8>, into_f32)
SWMMAC(v_swmmac_f32_16x16x32_bf8_fp8, 32, FromByte<OcpBf8>, FromByte<OcpFp8>, into_f32)
SWMMAC(v_swmmac_f32_16x16x32_bf8_bf8, 32, FromByte<OcpBf8>, FromByte<OcpBf8>, into_f32)

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
