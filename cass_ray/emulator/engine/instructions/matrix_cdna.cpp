// Matrix products of CDNA: MFMA, and SMFMAC with a sparse A (MI300 ISA, chapter 7; AMD's matrix
// instruction calculator).
//
// B blocks of an M x K matrix times a K x M one. A lane holds E consecutive elements of K: of A,
// row i and elements from k on of block b are in lane i + M (b + B k / E); B has columns in place
// of rows. Of C and D, groups of H rows (4, of f64 1) lie in consecutive registers of a lane; see
// Result. EXEC does not matter.
//
// Products are added to C in the order of k, each with one rounding (fused). AMD does not say in
// which order and precision its hardware adds: sums of f32 are approximate in their last bits.
#include "byte_float.hpp"
#include "half_common.hpp"

#include "../program.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;

constexpr unsigned wave_lanes = 64;

// ---- elements of A and B

template <class Value, unsigned bits_each>
struct ElementType {
  using Element = Value;
  static constexpr unsigned bits = bits_each;
};
struct Half : ElementType<float, 16> {
  static inline float get(u64 bits) {
    return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<u16>(bits)));
  }
  // MI200's matrix units take denormals for zero, MI300's do not.
  static inline float flushed(float value) {
    return __builtin_fabsf(value) < 0x1p-14F ? 0.0F : value;
  }
};
struct Bfloat : ElementType<float, 16> {
  static inline float get(u64 bits) {
    return __builtin_bit_cast(float, static_cast<u32>(bits) << 16);
  }
  static inline float flushed(float value) {
    return __builtin_fabsf(value) < 0x1p-126F ? 0.0F : value;
  }
};
struct Single : ElementType<float, 32> {
  static inline float get(u64 bits) { return __builtin_bit_cast(float, static_cast<u32>(bits)); }
};
// 10 bits of mantissa, to nearest even.
struct Xsingle : ElementType<float, 32> {
  static inline float get(u64 bits) {
    const auto word = static_cast<u32>(bits);
    const float value = __builtin_bit_cast(float, word);
    if (value != value) return value;
    const u32 rounded = (word + 0xFFFU + (word >> 13 & 1U)) & ~0x1FFFU;
    return __builtin_bit_cast(float, rounded);
  }
};
struct Double : ElementType<double, 64> {
  static inline double get(u64 bits) { return __builtin_bit_cast(double, bits); }
};
struct Signed8 : ElementType<i32, 8> {
  static inline i32 get(u64 bits) { return static_cast<std::int8_t>(bits); }
};
template <class Format>
struct Byte : ElementType<float, 8> {
  static inline float get(u64 bits) { return float_of_byte<Format>(static_cast<u32>(bits & 0xFF)); }
};

template <class T>
struct LanesOfElement;
template <>
struct LanesOfElement<float> {
  using type = F32;
};
template <>
struct LanesOfElement<double> {
  using type = F64;
};
template <>
struct LanesOfElement<i32> {
  using type = I32;
};

ALWAYS_INLINE u32 word_of(Wave& w, const Operand& operand, unsigned number, unsigned lane) {
  const u32 half = lane / lanes * static_cast<u32>(sizeof(Row));
  return place<u32>(w, operand.value + number * w.row_stride + half + 4 * (lane % lanes));
}

template <class Type>
ALWAYS_INLINE typename Type::Element element(Wave& w, const Operand& operand, unsigned number,
                                             unsigned lane) {
  const unsigned at = number * Type::bits;
  u64 bits = word_of(w, operand, at / 32, lane) >> at % 32;
  if constexpr (Type::bits == 64) bits |= u64{word_of(w, operand, at / 32 + 1, lane)} << 32;
  const auto value = Type::get(bits);
  if constexpr (requires { Type::flushed(value); }) {
    if (w.program->set == InstructionSet::gfx90a) return Type::flushed(value);
  }
  return value;
}

// The lane that B's elements of `lane` come from (BLGP).
ALWAYS_INLINE unsigned permuted_lane(unsigned lane, unsigned pattern) {
  switch (pattern) {
    case 1: return lane % 32;
    case 2: return 32 + lane % 32;
    case 3: return (lane + 16) % 64;
    case 4: return lane % 16;
    case 5: return 16 + lane % 16;
    case 6: return 32 + lane % 16;
    case 7: return 48 + lane % 16;
    default: return lane;
  }
}

// Fields of the instruction, as the decoder packs them.
ALWAYS_INLINE unsigned cbsz(const Instruction& i) { return static_cast<unsigned>(i.immediate) & 7; }
ALWAYS_INLINE unsigned abid(const Instruction& i) {
  return static_cast<unsigned>(i.immediate) >> 4 & 15;
}
ALWAYS_INLINE unsigned blgp(const Instruction& i) {
  return static_cast<unsigned>(i.immediate) >> 8 & 7;
}

// ---- shapes

// `Order`: M and N; `depth`: K of the product; `blocks`: B.
template <unsigned order_, unsigned depth_, unsigned blocks_>
struct Shape {
  static constexpr unsigned order = order_, depth = depth_, blocks = blocks_;
  static constexpr unsigned per_lane = depth / (wave_lanes / (order * blocks));  // E
};

template <class Shape, class Element>
struct Factors {
  Element at[Shape::blocks][Shape::depth][Shape::order];  // a row of A or a column of B is last
};

// The rows or columns that the wave's registers hold. `lane_of`: where to look for a lane's.
template <class Shape, class Type, class LaneOf>
ALWAYS_INLINE void read_factors(Wave& w, const Operand& operand,
                                Factors<Shape, typename Type::Element>& into, LaneOf lane_of) {
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const unsigned line = lane % Shape::order;
    const unsigned block = lane / Shape::order % Shape::blocks;
    const unsigned first = lane / Shape::order / Shape::blocks * Shape::per_lane;
    for (unsigned e = 0; e < Shape::per_lane; ++e) {
      into.at[block][first + e][line] = element<Type>(w, operand, e, lane_of(lane));
    }
  }
}

// Which element of D a register holds in a lane: of f64 a register is a pair.
template <class Shape, unsigned height>
struct Result {
  static constexpr unsigned order = Shape::order;
  static constexpr unsigned columns = wave_lanes / order;  // groups of lanes in a register
  static constexpr unsigned blocks_in_register =
      order * order / height >= wave_lanes ? 1 : wave_lanes / (order * order / height);
  static constexpr unsigned row_groups = columns / blocks_in_register;
  static constexpr unsigned registers = order * order * Shape::blocks / wave_lanes;
  static constexpr unsigned registers_of_block = registers / (Shape::blocks / blocks_in_register);

  static inline unsigned block(unsigned number, unsigned lane) {
    return number / registers_of_block * blocks_in_register + lane / order % blocks_in_register;
  }
  static inline unsigned row(unsigned number, unsigned lane) {
    const unsigned within = number % registers_of_block;
    const unsigned group = lane / order / blocks_in_register;
    return within % height + height * (group + row_groups * (within / height));
  }
};

// C's elements of a register, or an inline constant for all of them.
ALWAYS_INLINE F32 addend(Wave& w, const Operand& operand, u32 offset, F32) {
  return operand.kind == OperandKind::vector ? place<F32>(w, operand.value + offset)
                                             : bits_as<F32>((U32)scalar_u32(w, operand));
}
ALWAYS_INLINE I32 addend(Wave& w, const Operand& operand, u32 offset, I32) {
  return operand.kind == OperandKind::vector ? place<I32>(w, operand.value + offset)
                                             : (I32) static_cast<i32>(scalar_u32(w, operand));
}
// Constants are decoded as f32, which is exact for all but 1 / (2 pi).
ALWAYS_INLINE F64 addend(Wave& w, const Operand& operand, u32 offset, F64) {
  if (operand.kind == OperandKind::vector) {
    return bits_as<F64>(join(place<U32>(w, operand.value + offset),
                             place<U32>(w, operand.value + offset + w.row_stride)));
  }
  constexpr unsigned inverse_2pi = 248;
  if (operand.index == inverse_2pi) return (F64)0x1.45f306dc9c882p-3;
  const u32 bits = scalar_u32(w, operand);
  const bool integer = operand.index <= 208;
  return (F64)(integer ? __builtin_bit_cast(double, u64{bits} | (bits >> 31 != 0 ? ~0ULL << 32 : 0))
                       : static_cast<double>(__builtin_bit_cast(float, bits)));
}

ALWAYS_INLINE F32 accumulate(F32 a, F32 b, F32 sum) { return __builtin_elementwise_fma(a, b, sum); }
ALWAYS_INLINE F64 accumulate(F64 a, F64 b, F64 sum) { return __builtin_elementwise_fma(a, b, sum); }
ALWAYS_INLINE I32 accumulate(I32 a, I32 b, I32 sum) {
  return bits_as<I32>(bits_as<U32>(a) * bits_as<U32>(b) + bits_as<U32>(sum));
}

ALWAYS_INLINE void put(Wave& w, u32 at, F32 sum) { place<F32>(w, at) = sum; }
ALWAYS_INLINE void put(Wave& w, u32 at, I32 sum) { place<I32>(w, at) = sum; }
ALWAYS_INLINE void put(Wave& w, u32 at, F64 sum) {
  const U64 bits = bits_as<U64>(sum);
  place<U32>(w, at) = convert<U32>(bits);
  place<U32>(w, at + w.row_stride) = convert<U32>(bits >> 32);
}

// D = A B + C. C may be D, and up to 128 bits D may overlap with part of C: LLVM refuses that of
// more.
template <class Shape, class Element>
ALWAYS_INLINE void multiply(Wave& w, const Instruction& i, const Operand& c,
                            const Factors<Shape, Element>& a, const Factors<Shape, Element>& b) {
  using Lanes = typename LanesOfElement<Element>::type;
  constexpr unsigned height = sizeof(Element) == 8 ? 1 : 4;
  constexpr unsigned words = sizeof(Element) / 4;
  using Place = Result<Shape, height>;
  constexpr unsigned kept = Place::registers * words <= 4 ? 2 * Place::registers : 1;
  const auto offset_of = [&](unsigned part) {
    return part / 2 * words * w.row_stride + part % 2 * static_cast<u32>(sizeof(Row));
  };
  Lanes sums[kept];
  for (unsigned part = 0; part < 2 * Place::registers; ++part) {
    const unsigned number = part / 2, half = part % 2;
    Lanes sum = addend(w, c, offset_of(part), Lanes{});
    for (unsigned k = 0; k < Shape::depth; ++k) {
      Lanes left, right;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const unsigned all = lane + lanes * half;
        const unsigned block = Place::block(number, all);
        left[lane] = a.at[block][k][Place::row(number, all)];
        right[lane] = b.at[block][k][all % Shape::order];
      }
      sum = accumulate(left, right, sum);
    }
    sums[part % kept] = sum;
    if (kept == 1) put(w, i.destination.value + offset_of(part), sum);
  }
  if (kept == 1) return;
  for (unsigned part = 0; part < kept; ++part) {
    put(w, i.destination.value + offset_of(part), sums[part]);
  }
}

// CBSZ: A's block ABID of each 2^CBSZ serves all of them.
template <class Shape, class TypeA, class TypeB>
ALWAYS_INLINE void dense(Wave& w, const Instruction& i) {
  using Element = typename TypeA::Element;
  Factors<Shape, Element> a, b;
  const unsigned group = 1U << cbsz(i);
  const unsigned pattern = sizeof(Element) == 8 ? 0 : blgp(i);
  read_factors<Shape, TypeA>(w, i.source[0], a, [&](unsigned lane) {
    if (cbsz(i) == 0 || Shape::blocks == 1) return lane;
    const unsigned block = lane / Shape::order % Shape::blocks;
    const unsigned from = (block / group * group + abid(i)) % Shape::blocks;
    return lane + (from - block) * Shape::order;
  });
  read_factors<Shape, TypeB>(w, i.source[1], b,
                             [&](unsigned lane) { return permuted_lane(lane, pattern); });
  if constexpr (sizeof(Element) == 8) {
    // BLGP negates the matrices of f64 (gfx942).
    const auto negate = [](Factors<Shape, Element>& factors) {
      for (auto& block : factors.at) {
        for (auto& line : block) {
          for (Element& value : line) value = -value;
        }
      }
    };
    if ((blgp(i) & 1) != 0) negate(a);
    if ((blgp(i) & 2) != 0) negate(b);
  }
  multiply<Shape>(w, i, i.source[2], a, b);
}

// Of each four consecutive elements of A two are there, in order; two bits for each say which. CBSZ
// and ABID choose the bits of the index register: without CBSZ, ABID says which part of it.
template <class Shape, class TypeA, class TypeB>
ALWAYS_INLINE void sparse(Wave& w, const Instruction& i) {
  using Element = typename TypeA::Element;
  constexpr unsigned stored = Shape::per_lane / 2, index_bits = 2 * stored;
  Factors<Shape, Element> a = {}, b;
  const unsigned shift = cbsz(i) == 0 ? abid(i) % (32 / index_bits) * index_bits : 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const unsigned line = lane % Shape::order;
    const unsigned first = lane / Shape::order * Shape::per_lane;
    const u32 indices = word_of(w, i.source[2], 0, lane) >> shift;
    for (unsigned e = 0; e < stored; ++e) {
      const unsigned k = first + e / 2 * 4 + (indices >> (2 * e) & 3);
      a.at[0][k][line] = element<TypeA>(w, i.source[0], e, lane);
    }
  }
  read_factors<Shape, TypeB>(w, i.source[1], b, [](unsigned lane) { return lane; });
  multiply<Shape>(w, i, i.destination, a, b);
}

#define MATRIX(name, kind, M, K, B, TypeA, TypeB) \
  OPERATION(name) { kind<Shape<M, K, B>, TypeA, TypeB>(w, i); }
#define DENSE(name, M, K, B, Type) MATRIX(name, dense, M, K, B, Type, Type)

DENSE(v_mfma_f32_32x32x1_2b_f32, 32, 1, 2, Single)
DENSE(v_mfma_f32_16x16x1_4b_f32, 16, 1, 4, Single)
DENSE(v_mfma_f32_4x4x1_16b_f32, 4, 1, 16, Single)
DENSE(v_mfma_f32_32x32x2_f32, 32, 2, 1, Single)
DENSE(v_mfma_f32_16x16x4_f32, 16, 4, 1, Single)
DENSE(v_mfma_f32_32x32x4_xf32, 32, 4, 1, Xsingle)
DENSE(v_mfma_f32_16x16x8_xf32, 16, 8, 1, Xsingle)
#define OF_16_BITS(suffix, Type)                        \
  DENSE(v_mfma_f32_32x32x4_2b_##suffix, 32, 4, 2, Type) \
  DENSE(v_mfma_f32_16x16x4_4b_##suffix, 16, 4, 4, Type) \
  DENSE(v_mfma_f32_4x4x4_16b_##suffix, 4, 4, 16, Type)  \
  DENSE(v_mfma_f32_32x32x8_##suffix, 32, 8, 1, Type)    \
  DENSE(v_mfma_f32_16x16x16_##suffix, 16, 16, 1, Type)
OF_16_BITS(f16, Half)
OF_16_BITS(bf16, Bfloat)
// gfx90a: two elements a lane.
DENSE(v_mfma_f32_32x32x2_2b_bf16, 32, 2, 2, Bfloat)
DENSE(v_mfma_f32_16x16x2_4b_bf16, 16, 2, 4, Bfloat)
DENSE(v_mfma_f32_4x4x2_16b_bf16, 4, 2, 16, Bfloat)
DENSE(v_mfma_f32_32x32x4_bf16, 32, 4, 1, Bfloat)
DENSE(v_mfma_f32_16x16x8_bf16, 16, 8, 1, Bfloat)
DENSE(v_mfma_i32_32x32x4_2b_i8, 32, 4, 2, Signed8)
DENSE(v_mfma_i32_16x16x4_4b_i8, 16, 4, 4, Signed8)
DENSE(v_mfma_i32_4x4x4_16b_i8, 4, 4, 16, Signed8)
DENSE(v_mfma_i32_32x32x8_i8, 32, 8, 1, Signed8)
DENSE(v_mfma_i32_16x16x16_i8, 16, 16, 1, Signed8)
DENSE(v_mfma_i32_32x32x16_i8, 32, 16, 1, Signed8)
DENSE(v_mfma_i32_16x16x32_i8, 16, 32, 1, Signed8)
DENSE(v_mfma_f64_16x16x4_f64, 16, 4, 1, Double)
DENSE(v_mfma_f64_4x4x4_4b_f64, 4, 4, 4, Double)

#define OF_BYTES(prefix, ending, kind, M, K, F, B)                  \
  MATRIX(prefix##_bf8_bf8##ending, kind, M, K, 1, Byte<B>, Byte<B>) \
  MATRIX(prefix##_bf8_fp8##ending, kind, M, K, 1, Byte<B>, Byte<F>) \
  MATRIX(prefix##_fp8_bf8##ending, kind, M, K, 1, Byte<F>, Byte<B>) \
  MATRIX(prefix##_fp8_fp8##ending, kind, M, K, 1, Byte<F>, Byte<F>)
#define OF_ALL_BYTES(ending, F, B)                              \
  OF_BYTES(v_mfma_f32_32x32x16, ending, dense, 32, 16, F, B)    \
  OF_BYTES(v_mfma_f32_16x16x32, ending, dense, 16, 32, F, B)    \
  OF_BYTES(v_smfmac_f32_32x32x32, ending, sparse, 32, 32, F, B) \
  OF_BYTES(v_smfmac_f32_16x16x64, ending, sparse, 16, 64, F, B)
OF_ALL_BYTES(, Fp8, Bf8)
OF_ALL_BYTES(_gfx950, OcpFp8, OcpBf8)

// gfx950: twice as many elements a lane.
DENSE(v_mfma_f32_32x32x16_f16, 32, 16, 1, Half)
DENSE(v_mfma_f32_16x16x32_f16, 16, 32, 1, Half)
DENSE(v_mfma_f32_32x32x16_bf16, 32, 16, 1, Bfloat)
DENSE(v_mfma_f32_16x16x32_bf16, 16, 32, 1, Bfloat)
DENSE(v_mfma_i32_32x32x32_i8, 32, 32, 1, Signed8)
DENSE(v_mfma_i32_16x16x64_i8, 16, 64, 1, Signed8)

MATRIX(v_smfmac_f32_32x32x16_f16, sparse, 32, 16, 1, Half, Half)
MATRIX(v_smfmac_f32_16x16x32_f16, sparse, 16, 32, 1, Half, Half)
MATRIX(v_smfmac_f32_32x32x16_bf16, sparse, 32, 16, 1, Bfloat, Bfloat)
MATRIX(v_smfmac_f32_16x16x32_bf16, sparse, 16, 32, 1, Bfloat, Bfloat)
MATRIX(v_smfmac_i32_32x32x32_i8, sparse, 32, 32, 1, Signed8, Signed8)
MATRIX(v_smfmac_i32_16x16x64_i8, sparse, 16, 64, 1, Signed8, Signed8)

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
