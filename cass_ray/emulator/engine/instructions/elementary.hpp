// Elementary functions of f32 vectors, computed in f64: correctly rounded in nearly all cases.
#pragma once

#include "float_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

template <int count>
ALWAYS_INLINE F64 polynomial(F64 x, const double (&coefficients)[count]) {
  F64 sum = (F64)coefficients[count - 1];
  for (int k = count - 2; k >= 0; --k)
    sum = __builtin_elementwise_fma(sum, x, (F64)coefficients[k]);
  return sum;
}

// 2^x = 2^n 2^f with |f| <= 1/2: the series of exp(f ln 2).
ALWAYS_INLINE F32 exponential2(F32 value) {
  constexpr double series[] = {1.0,
                               0.69314718055994531,
                               0.24022650695910072,
                               0.055504108664821580,
                               0.0096181291076284772,
                               0.0013333558146428443,
                               0.00015403530393381610,
                               1.5252733804059841e-05,
                               1.3215486790144309e-06,
                               1.0178086009239699e-07};
  const I32 nan = is_nan(value);
  const F32 limited = __builtin_elementwise_min(
      __builtin_elementwise_max(nan ? (F32)0.0F : value, (F32)-200.0F), (F32)200.0F);
  const F64 x = convert<F64>(limited);
  const F64 whole = __builtin_elementwise_roundeven(x);
  const F64 power = polynomial(x - whole, series);
  const F32 result = convert<F32>(power * power_of_two(convert<I64>(convert<I32>(whole))));
  return nan ? quieted(value) : result;
}

// log2(x) = e + log2(m), sqrt(1/2) <= m < sqrt(2), by the series of atanh((m - 1) / (m + 1)).
ALWAYS_INLINE F32 logarithm2(F32 value) {
  constexpr double two_over_ln2 = 2.8853900817779268;
  constexpr double series[] = {two_over_ln2,      two_over_ln2 / 3,  two_over_ln2 / 5,
                               two_over_ln2 / 7,  two_over_ln2 / 9,  two_over_ln2 / 11,
                               two_over_ln2 / 13, two_over_ln2 / 15, two_over_ln2 / 17};
  const F64 x = convert<F64>(value);
  const U64 bits = bits_as<U64>(x);
  F64 mantissa = bits_as<F64>((bits & 0x000F'FFFF'FFFF'FFFFULL) | 0x3FF0'0000'0000'0000ULL);
  const I64 large = mantissa >= (F64)1.4142135623730951;
  mantissa = large ? mantissa * 0.5 : mantissa;
  const I64 exponent = bits_as<I64>(bits >> 52) - 1023 - large;
  const F64 s = (mantissa - 1.0) / (mantissa + 1.0);
  const F64 sum =
      __builtin_elementwise_fma(polynomial(s * s, series), s, convert<F64>(convert<I32>(exponent)));
  F32 result = convert<F32>(sum);
  result = value == 0.0F ? -from_bits<F32>(infinity_bits<F32>) : result;
  result = value == from_bits<F32>(infinity_bits<F32>) ? value : result;
  result = value < 0.0F ? from_bits<F32>(default_nan<F32>) : result;
  return is_nan(value) ? quieted(value) : result;
}

// sin(2 pi (x + turns)): by quarter turns, the series of sine and cosine within an eighth.
ALWAYS_INLINE F32 sine_of_quarters(F32 value, int quarters) {
  constexpr double half_pi = 1.5707963267948966;
  constexpr double sine[] = {1.0,          -1.0 / 6,        1.0 / 120,       -1.0 / 5040,
                             1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800};
  constexpr double cosine[] = {1.0,         -1.0 / 2,       1.0 / 24,       -1.0 / 720,
                               1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600};
  const I32 finite = absolute(value) < from_bits<F32>(infinity_bits<F32>);
  const F64 x = convert<F64>(select(finite, value, (F32)0.0F));
  const F64 turns = x - __builtin_elementwise_roundeven(x);
  const F64 nearest = __builtin_elementwise_roundeven(turns * 4.0);
  const F64 angle = (turns * 4.0 - nearest) * half_pi;
  const F64 square = angle * angle;
  const I32 quadrant = convert<I32>(nearest) + quarters;
  const F64 s = polynomial(square, sine) * angle;
  const F64 c = polynomial(square, cosine);
  const I64 odd = convert<I64>((quadrant & 1) != 0), negative = convert<I64>((quadrant & 2) != 0);
  const F64 magnitude = odd ? c : s;
  const F32 result = convert<F32>(negative ? -magnitude : magnitude);
  const F32 special = is_nan(value) ? quieted(value) : from_bits<F32>(default_nan<F32>);
  return select(finite, result, special);
}
ALWAYS_INLINE F32 sine_of_turns(F32 value) {
  // The sign of zero survives.
  return value == 0.0F ? value : sine_of_quarters(value, 0);
}
ALWAYS_INLINE F32 cosine_of_turns(F32 value) { return sine_of_quarters(value, 1); }

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
