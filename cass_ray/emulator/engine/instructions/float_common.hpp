// Semantics that f16, f32 and f64 share, by traits of the type.
#pragma once

#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

template <class Float>
struct Traits;
template <>
struct Traits<F16> {
  using Bits = U16;
  using Lanes = I16;
  using Word = std::uint16_t;
  static constexpr int mantissa = 10, exponent = 5;
};
template <>
struct Traits<F32> {
  using Bits = U32;
  using Lanes = I32;
  using Word = std::uint32_t;
  static constexpr int mantissa = 23, exponent = 8;
};
template <>
struct Traits<F64> {
  using Bits = U64;
  using Lanes = I64;
  using Word = std::uint64_t;
  static constexpr int mantissa = 52, exponent = 11;
};

template <class F>
constexpr typename Traits<F>::Word sign_bit =
    typename Traits<F>::Word{1} << (Traits<F>::mantissa + Traits<F>::exponent);
template <class F>
constexpr typename Traits<F>::Word quiet_bit =
    typename Traits<F>::Word{1} << (Traits<F>::mantissa - 1);
template <class F>
constexpr typename Traits<F>::Word infinity_bits =
    ((typename Traits<F>::Word{1} << Traits<F>::exponent) - 1) << Traits<F>::mantissa;
// Quiet and negative: what invalid operations give.
template <class F>
constexpr typename Traits<F>::Word default_nan = sign_bit<F> | infinity_bits<F> | quiet_bit<F>;

// Unsigned integers to floating point, rounded as MODE says. Where there is no instruction for it
// (before AVX-512), compilers end with x - x for zero, which is -0 when rounding down; so the
// conversion is made from signed ones. The upper half loses its last bit to a sticky one: the 24
// bits of a float do not reach it, and its product with 2 is exact.
ALWAYS_INLINE F32 float_from_unsigned(U32 value) {
  const F32 small = convert<F32>(bits_as<I32>(value));
  const F32 large = convert<F32>(bits_as<I32>(value >> 1 | (value & 1U))) * 2.0F;
  return select(bits_as<I32>(value) < 0, large, small);
}
ALWAYS_INLINE F64 double_from_unsigned(U32 value) {
  const U64 upper = convert<U64>(value >> 31);
  return convert<F64>(bits_as<I32>(value)) + bits_as<F64>(upper * bits_as<U64>((F64)0x1p32));
}

template <class F>
using BitsOf = typename Traits<F>::Bits;
template <class F>
using LanesOf = typename Traits<F>::Lanes;

template <class F>
ALWAYS_INLINE BitsOf<F> all(typename Traits<F>::Word word) {
  return (BitsOf<F>)word;
}
template <class F>
ALWAYS_INLINE F from_bits(typename Traits<F>::Word word) {
  return bits_as<F>(all<F>(word));
}
template <class F>
ALWAYS_INLINE F quieted(F value) {
  return bits_as<F>(bits_as<BitsOf<F>>(value) | all<F>(quiet_bit<F>));
}
template <class F>
ALWAYS_INLINE F absolute(F value) {
  return bits_as<F>(bits_as<BitsOf<F>>(value) & ~all<F>(sign_bit<F>));
}
template <class F>
ALWAYS_INLINE LanesOf<F> is_nan(F value) {
  return value != value;
}
template <class F>
ALWAYS_INLINE LanesOf<F> is_signaling(F value) {
  return (value != value) & ((bits_as<BitsOf<F>>(value) & all<F>(quiet_bit<F>)) == (BitsOf<F>)0);
}
template <class F>
ALWAYS_INLINE LanesOf<F> is_infinite(F value) {
  return absolute(value) == from_bits<F>(infinity_bits<F>);
}
template <class F>
ALWAYS_INLINE LanesOf<F> is_denormal(F value) {
  const auto bits = bits_as<BitsOf<F>>(absolute(value));
  return (bits != (BitsOf<F>)0) &
         (bits < all<F>(typename Traits<F>::Word{1} << Traits<F>::mantissa));
}
// The biased exponent field.
template <class F>
ALWAYS_INLINE LanesOf<F> exponent_field(F value) {
  return bits_as<LanesOf<F>>(bits_as<BitsOf<F>>(absolute(value)) >> Traits<F>::mantissa);
}
template <class F>
ALWAYS_INLINE F with_sign(F magnitude, BitsOf<F> sign) {
  return bits_as<F>(bits_as<BitsOf<F>>(magnitude) | sign);
}

// A zero of its sign where the value is denormal and MODE flushes inputs or results. Minima and
// maxima do since GFX9 (GCNSubtarget::supportsMinMaxDenormModes of LLVM, does_fp_op_flush_denorms
// of Mesa's ACO), which the manuals' pseudo-code leaves out. Comparisons heed MXCSR, selections do
// not.
template <class F>
ALWAYS_INLINE F as_mode_keeps(const Wave& w, F value) {
  constexpr std::uint32_t kept = sizeof(value) == sizeof(F32) ? 3U << 4 : 3U << 6;
  if (__builtin_expect((w.mode & kept) == kept, 1)) return value;
  const auto sign = bits_as<BitsOf<F>>(value) & all<F>(sign_bit<F>);
  return is_denormal(value) ? bits_as<F>(sign) : value;
}

// Minimum and maximum (RDNA3 ISA, V_MIN_F32, V_MAX_F32): -0 < +0; one NaN gives the other operand;
// in IEEE mode a signaling NaN gives its quiet form; of
// two NaN gfx12 takes the first, quiet (RDNA4 ISA, V_MIN_NUM_F32).
template <class F, bool greatest>
ALWAYS_INLINE F extremum(const Wave& w, F a, F b) {
  using Bits = BitsOf<F>;
  a = as_mode_keeps(w, a), b = as_mode_keeps(w, b);
  const LanesOf<F> first = greatest ? a > b : a < b;
  F result = first ? a : b;
  const Bits both =
      greatest ? bits_as<Bits>(a) & bits_as<Bits>(b) : bits_as<Bits>(a) | bits_as<Bits>(b);
  result = a == b ? bits_as<F>(both) : result;
  const LanesOf<F> unordered = is_nan(a) | is_nan(b);
  if (__builtin_expect(mask_of(unordered) != 0, 0)) {
    result = is_nan(b) & ~is_nan(a) ? a : result;
    if ((w.mode & mode::minimum_number) != 0) result = is_nan(a) & is_nan(b) ? quieted(a) : result;
    if ((w.mode & mode::ieee) != 0) {
      result = is_signaling(b) ? quieted(b) : result;
      result = is_signaling(a) ? quieted(a) : result;
    }
  }
  return result;
}
template <class F>
ALWAYS_INLINE F minimum(const Wave& w, F a, F b) {
  return extremum<F, false>(w, a, b);
}
template <class F>
ALWAYS_INLINE F maximum(const Wave& w, F a, F b) {
  return extremum<F, true>(w, a, b);
}

// IEEE 754-2019's minimum and maximum (RDNA4 ISA, V_MINIMUM_F32): a NaN gives a NaN, a signaling
// one first, then the first operand's.
template <class F, bool greatest>
ALWAYS_INLINE F ordered_extremum(const Wave& w, F a, F b) {
  using Bits = BitsOf<F>;
  a = as_mode_keeps(w, a), b = as_mode_keeps(w, b);
  const LanesOf<F> first = greatest ? a > b : a < b;
  F result = first ? a : b;
  const Bits both =
      greatest ? bits_as<Bits>(a) & bits_as<Bits>(b) : bits_as<Bits>(a) | bits_as<Bits>(b);
  result = a == b ? bits_as<F>(both) : result;
  result = is_nan(b) ? quieted(b) : result;
  const LanesOf<F> of_first = is_nan(a) & (is_signaling(a) | ~is_signaling(b));
  return of_first ? quieted(a) : result;
}
template <class F>
ALWAYS_INLINE F ordered_minimum(const Wave& w, F a, F b) {
  return ordered_extremum<F, false>(w, a, b);
}
template <class F>
ALWAYS_INLINE F ordered_maximum(const Wave& w, F a, F b) {
  return ordered_extremum<F, true>(w, a, b);
}

// V_MED3: with a NaN among the sources, their minimum.
template <class F>
ALWAYS_INLINE F median(const Wave& w, F a, F b, F c) {
  const LanesOf<F> unordered = is_nan(a) | is_nan(b) | is_nan(c);
  const F low = minimum(w, minimum(w, a, b), c);
  const F middle = maximum(w, minimum(w, a, b), minimum(w, maximum(w, a, b), c));
  return unordered ? low : middle;
}

// x * 2^e, rounded once.
ALWAYS_INLINE F64 power_of_two(I64 exponent) {
  return bits_as<F64>(bits_as<U64>(exponent + 1023) << 52);
}
template <class T>
ALWAYS_INLINE T clamp_integer(T value, T low, T high) {
  return __builtin_elementwise_min(__builtin_elementwise_max(value, low), high);
}
ALWAYS_INLINE F32 scale_by_power(F32 value, I32 exponent) {
  // Exact in f64: the one rounding is that back to f32.
  const I64 limited = convert<I64>(clamp_integer(exponent, (I32)-400, (I32)400));
  return convert<F32>(convert<F64>(value) * power_of_two(limited));
}
ALWAYS_INLINE F64 scale_by_power(F64 value, I32 exponent32) {
  // Down in steps that keep 53 bits below the normal range, so that only the last one rounds.
  I64 e = convert<I64>(clamp_integer(exponent32, (I32)-3000, (I32)3000));
  for (int step = 0; step < 2; ++step) {
    const I64 up = e > (I64)1023, down = e < (I64)-1022;
    value = up ? value * 0x1p1023 : value;
    value = down ? value * 0x1p-969 : value;
    e = up ? e - 1023 : (down ? e + 969 : e);
  }
  return value * power_of_two(clamp_integer(e, (I64)-1022, (I64)1023));
}

template <class F>
ALWAYS_INLINE F times_power(F value, int exponent) {
  return scale_by_power(value, (I32)exponent);
}

// ---- division: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP. a: the value to scale, d: denominator,
// n: numerator.

template <class F>
struct Scaled {
  F value;
  LanesOf<F> flags;
};

// By the exponent fields alone, as gfx1100 and gfx1201 do (ROCm/rocm-systems, pull request 11613:
// AMD's simulator, compared with both). The manual's pseudo-code asks which quotients are denormal,
// after rounding, and scales others.
template <class F>
ALWAYS_INLINE Scaled<F> division_scale(F a, F d, F n) {
  constexpr bool single = sizeof(typename Traits<F>::Word) == 4;
  constexpr int step = single ? 64 : 128, tiny = single ? 24 : 53;
  const LanesOf<F> limit = (LanesOf<F>)(single ? 96 : 768),
                   huge = (LanesOf<F>)(single ? 253 : 2045);
  const LanesOf<F> zero = (n == (F)0) | (d == (F)0);
  const LanesOf<F> above = exponent_field(n) - exponent_field(d);
  const LanesOf<F> far = above >= limit, small_quotient = above <= -limit;
  const LanesOf<F> denormal_denominator = exponent_field(d) == (LanesOf<F>)0;
  const LanesOf<F> is_d = a == d;
  const F up = times_power(a, step), down = times_power(a, -step);
  F value = exponent_field(n) <= (LanesOf<F>)tiny ? up : a;
  value = small_quotient ? (is_d ? a : up) : value;
  value = exponent_field(d) >= huge ? (small_quotient & ~is_d ? a : down) : value;
  value = denormal_denominator ? up : value;
  value = far ? (is_d ? up : a) : value;
  value = zero ? from_bits<F>(default_nan<F>) : value;
  return {value, far | (~denormal_denominator & small_quotient)};
}

// What scaling down by 2^step has rounded away from a * b + c, if `sum` is that, rounded: where
// half a place of a denormal number was lost, the sum was rounded before, and which way decides.
// Exact as far as the operands are of a division: c is nearly the quotient, and a * b small beside
// it.
template <class F>
ALWAYS_INLINE F last_place_missing(F a, F b, F c, F sum, F down, int step) {
  constexpr int away_from_underflow = sizeof(typename Traits<F>::Word) == 4 ? 60 : 200;
  const F least = from_bits<F>(1), half = times_power(least, step - 1);
  const F lost = sum - times_power(down, step);
  const F error = __builtin_elementwise_fma(times_power(a, away_from_underflow), b,
                                            times_power(c - sum, away_from_underflow));
  const F above = (lost == half) & (error > 0) ? least : (F)0;
  return (lost == -half) & (error < 0) ? -least : above;
}

// With scaling it rounds once, as the same shows; the pseudo-code would round denormal results
// twice.
template <class F>
ALWAYS_INLINE F division_multiply_add(F a, F b, F c, std::uint32_t flags, bool to_nearest) {
  constexpr bool single = sizeof(typename Traits<F>::Word) == 4;
  constexpr int step = single ? 64 : 128, bias = single ? 127 : 1023;
  const F sum = __builtin_elementwise_fma(a, b, c);
  if (flags == 0) return sum;
  const LanesOf<F> large = exponent_field(c) > (LanesOf<F>)bias;
  F down = times_power(sum, -step);
  // Rounded twice in one direction, a number is what it is rounded once.
  if (to_nearest) down += last_place_missing(a, b, c, sum, down, step);
  const F scaled = large ? times_power(sum, step) : down;
  const LanesOf<F> chosen = convert<LanesOf<F>>(lanes_of(flags));
  return chosen ? scaled : sum;
}

// q: the quotient so far; NaN where the iteration overflowed.
template <class F>
ALWAYS_INLINE F division_fixup(F q, F d, F n) {
  constexpr bool single = sizeof(typename Traits<F>::Word) == 4;
  constexpr int underflow = single ? -150 : -1075;
  using Bits = BitsOf<F>;
  const Bits sign = (bits_as<Bits>(d) ^ bits_as<Bits>(n)) & all<F>(sign_bit<F>);
  const LanesOf<F> d_zero = d == (F)0, n_zero = n == (F)0;
  const LanesOf<F> d_infinite = is_infinite(d), n_infinite = is_infinite(n);
  F value = is_nan(q) ? from_bits<F>(infinity_bits<F>) : absolute(q);
  value = exponent_field(n) - exponent_field(d) < (LanesOf<F>)underflow ? (F)0 : value;
  value = d_infinite | n_zero ? (F)0 : value;
  value = d_zero | n_infinite ? from_bits<F>(infinity_bits<F>) : value;
  value = with_sign(value, sign);
  value = (d_zero & n_zero) | (d_infinite & n_infinite) ? from_bits<F>(default_nan<F>) : value;
  value = is_nan(d) ? quieted(d) : value;
  return is_nan(n) ? quieted(n) : value;
}

// ---- mantissa and exponent

template <class F>
ALWAYS_INLINE LanesOf<F> has_no_exponent(F value) {
  return (value == (F)0) | is_nan(value) | is_infinite(value);
}
template <class F>
ALWAYS_INLINE F normalized(F value, LanesOf<F>& shift) {
  constexpr int up = Traits<F>::mantissa + 1;
  const LanesOf<F> denormal = is_denormal(value);
  constexpr auto bias = (typename Traits<F>::Word{1} << (Traits<F>::exponent - 1)) - 1;
  const F factor = from_bits<F>((bias + up) << Traits<F>::mantissa);
  shift = denormal ? (LanesOf<F>)up : (LanesOf<F>)0;
  return denormal ? value * factor : value;
}
template <class F>
ALWAYS_INLINE LanesOf<F> fraction_exponent(F value) {
  constexpr int bias = (1 << (Traits<F>::exponent - 1)) - 2;
  LanesOf<F> shift;
  const F scaled = normalized(value, shift);
  const LanesOf<F> exponent = exponent_field(scaled) - bias - shift;
  return has_no_exponent(value) ? (LanesOf<F>)0 : exponent;
}
template <class F>
ALWAYS_INLINE F fraction_mantissa(F value) {
  using Word = typename Traits<F>::Word;
  constexpr Word half = ((Word{1} << (Traits<F>::exponent - 1)) - 2) << Traits<F>::mantissa;
  LanesOf<F> shift;
  const auto bits = bits_as<BitsOf<F>>(normalized(value, shift));
  const F mantissa = bits_as<F>((bits & ~all<F>(infinity_bits<F>)) | all<F>(half));
  return has_no_exponent(value) ? value : mantissa;
}

// ---- to integers: toward zero, saturating, NaN to 0

template <class F>
ALWAYS_INLINE I32 to_signed(F value) {
  const F limit = (F)2147483648.0;
  const LanesOf<F> above = value >= limit, below = value < -limit;
  const LanesOf<F> outside = above | below | is_nan(value);
  const I32 inside = convert<I32>(outside ? (F)0 : value);
  const I32 high = convert<I32>(above), low = convert<I32>(below);
  return high ? (I32)0x7FFF'FFFF : (low ? (I32)(-0x7FFF'FFFF - 1) : inside);
}
template <class F>
ALWAYS_INLINE U32 to_unsigned(F value) {
  const LanesOf<F> above = value >= (F)4294967296.0;
  const LanesOf<F> inside = (value > (F)0) & ~above;
  const U32 converted = convert<U32>(inside ? value : (F)0);
  return select(convert<I32>(above), (U32)~0U, converted);
}

template <class F>
ALWAYS_INLINE F fraction(F value, F largest) {
  const F part = value - __builtin_elementwise_floor(value);
  const F limited = part < largest ? part : largest;
  return is_nan(part) ? part : limited;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
