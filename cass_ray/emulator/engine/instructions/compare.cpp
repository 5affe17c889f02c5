// Comparisons to lane masks (RDNA3 ISA, 16.9 VOPC). v_cmpx writes EXEC.
#include <type_traits>

#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

#define COMPARE_INTO(name, T, expression)            \
  OPERATION(name) {                                  \
    [[maybe_unused]] const T a = source<T>(w, i, 0); \
    [[maybe_unused]] const T b = source<T>(w, i, 1); \
    write_mask(w, i, mask_of(expression));           \
  }
#define COMPARE(test, suffix, T, expression)           \
  COMPARE_INTO(v_cmp_##test##_##suffix, T, expression) \
  COMPARE_INTO(v_cmpx_##test##_##suffix, T, expression)

#define INTEGER_ORDER(suffix, T) \
  COMPARE(lt, suffix, T, a < b)  \
  COMPARE(eq, suffix, T, a == b) \
  COMPARE(le, suffix, T, a <= b) \
  COMPARE(gt, suffix, T, a > b)  \
  COMPARE(ne, suffix, T, a != b) \
  COMPARE(ge, suffix, T, a >= b)
INTEGER_ORDER(i16, I16)
INTEGER_ORDER(u16, U16)
INTEGER_ORDER(i32, I32)
INTEGER_ORDER(u32, U32)
INTEGER_ORDER(i64, I64)
INTEGER_ORDER(u64, U64)
#define INTEGER_CONSTANT(suffix, T) \
  COMPARE(f, suffix, T, (I32)0)     \
  COMPARE(t, suffix, T, (I32) - 1)
INTEGER_CONSTANT(i16, I16)
INTEGER_CONSTANT(u16, U16)
INTEGER_CONSTANT(i32, I32)
INTEGER_CONSTANT(u32, U32)
INTEGER_CONSTANT(i64, I64)
INTEGER_CONSTANT(u64, U64)

// Ordered tests are false where an operand is NaN, their negations true.
#define FLOAT_TESTS(suffix, T)                  \
  COMPARE(f, suffix, T, (I32)0)                 \
  COMPARE(lt, suffix, T, a < b)                 \
  COMPARE(eq, suffix, T, a == b)                \
  COMPARE(le, suffix, T, a <= b)                \
  COMPARE(gt, suffix, T, a > b)                 \
  COMPARE(lg, suffix, T, (a < b) | (a > b))     \
  COMPARE(ge, suffix, T, a >= b)                \
  COMPARE(o, suffix, T, (a == a) & (b == b))    \
  COMPARE(u, suffix, T, (a != a) | (b != b))    \
  COMPARE(nge, suffix, T, ~(a >= b))            \
  COMPARE(nlg, suffix, T, ~((a < b) | (a > b))) \
  COMPARE(ngt, suffix, T, ~(a > b))             \
  COMPARE(nle, suffix, T, ~(a <= b))            \
  COMPARE(neq, suffix, T, ~(a == b))            \
  COMPARE(nlt, suffix, T, ~(a < b))             \
  COMPARE(t, suffix, T, (I32) - 1)
FLOAT_TESTS(f16, F16)
FLOAT_TESTS(f32, F32)
FLOAT_TESTS(f64, F64)

// Classes, by bit: signaling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0, +denormal,
// +normal, +infinity.
template <class Float, class Bits, class Lanes, int exponent_bits, int mantissa_bits>
ALWAYS_INLINE std::uint32_t in_class(Float value, U32 wanted) {
  using Element = decltype(Bits{}[0] + 0);
  using Word = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  const Bits bits = bits_as<Bits>(value);
  constexpr auto mantissa_mask = static_cast<Word>((Word{1} << mantissa_bits) - 1);
  constexpr auto exponent_mask = static_cast<Word>((Word{1} << exponent_bits) - 1);
  const U32 exponent = convert<U32>((bits >> mantissa_bits) & (decltype(Bits{}[0]))exponent_mask);
  const Bits mantissa = bits & (decltype(Bits{}[0]))mantissa_mask;
  const I32 empty = convert<I32>(mantissa == (Bits)0);
  const I32 quiet = convert<I32>((mantissa >> (mantissa_bits - 1)) != (Bits)0);
  const I32 negative = convert<I32>((bits >> (exponent_bits + mantissa_bits)) != (Bits)0);
  const I32 special = exponent == static_cast<std::uint32_t>(exponent_mask);
  const I32 tiny = exponent == 0U;
  U32 finite = select(tiny, select(empty, (U32)6U, (U32)7U), (U32)8U);
  finite = select(special, (U32)9U, finite);
  const U32 mirrored = select(negative, 11U - finite, finite);
  const U32 nan = select(quiet, (U32)1U, (U32)0U);
  const U32 index = select(special & ~empty, nan, mirrored);
  return mask_of((wanted >> index & 1U) != 0U);
}
#define CLASSIFY(suffix, Float, Bits, Lanes, exponent, mantissa)                          \
  OPERATION(v_cmp_class_##suffix) {                                                       \
    write_mask(w, i,                                                                      \
               (in_class<Float, Bits, Lanes, exponent, mantissa>(source<Float>(w, i, 0),  \
                                                                 source<U32>(w, i, 1)))); \
  }                                                                                       \
  OPERATION(v_cmpx_class_##suffix) {                                                      \
    write_mask(w, i,                                                                      \
               (in_class<Float, Bits, Lanes, exponent, mantissa>(source<Float>(w, i, 0),  \
                                                                 source<U32>(w, i, 1)))); \
  }
CLASSIFY(f16, F16, U16, I16, 5, 10)
CLASSIFY(f32, F32, U32, I32, 8, 23)
CLASSIFY(f64, F64, U64, I64, 11, 52)

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
