// f16 arithmetic by way of f32 and f64, and the denormals of MODE, which MXCSR does not reach.
#pragma once

#include "float_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u16 = std::uint16_t;

constexpr std::uint32_t half_denormal_inputs = 1U << 6;
constexpr std::uint32_t half_denormal_results = 1U << 7;

ALWAYS_INLINE F16 flushed(F16 value) {
  const U16 sign = bits_as<U16>(value) & (u16)0x8000;
  return is_denormal(value) ? bits_as<F16>(sign) : value;
}
ALWAYS_INLINE F16 input_half(const Wave& w, F16 value) {
  return __builtin_expect((w.mode & half_denormal_inputs) == 0, 0) ? flushed(value) : value;
}
ALWAYS_INLINE F16 result_half(const Wave& w, F16 value) {
  return __builtin_expect((w.mode & half_denormal_results) == 0, 0) ? flushed(value) : value;
}

ALWAYS_INLINE F16 half_source(Wave& w, const Instruction& i, int n) {
  return input_half(w, source<F16>(w, i, n));
}
// Exact.
ALWAYS_INLINE F32 widened(F16 value) { return convert<F32>(value); }

// Rounds to odd: a following rounding to fewer than 22 bits is then right.
ALWAYS_INLINE F32 to_odd(F64 value) {
  const F32 nearest = convert<F32>(value);
  const F64 back = convert<F64>(nearest);
  const U32 bits = bits_as<U32>(nearest);
  const I32 inexact = convert<I32>(back != value) & ~is_nan(nearest) & ~is_infinite(nearest);
  const I32 beyond = convert<I32>(absolute(back) > absolute(value));
  const U32 truncated = select(beyond, bits - 1U, bits);
  return bits_as<F32>(select(inexact, truncated | 1U, bits));
}
ALWAYS_INLINE F16 narrowed(F64 value) { return convert<F16>(to_odd(value)); }
ALWAYS_INLINE F16 narrowed(F32 value) { return convert<F16>(value); }

// One rounding: the exact product and the sum fit f64 as far as they matter to f16.
ALWAYS_INLINE F16 fused(F16 a, F16 b, F16 c) {
  return narrowed(__builtin_elementwise_fma(convert<F64>(widened(a)), convert<F64>(widened(b)),
                                            convert<F64>(widened(c))));
}

// bf16 in the low half, to nearest even; NaN stays NaN, quieted.
ALWAYS_INLINE U32 bfloat_of(F32 value) {
  const U32 bits = bits_as<U32>(value);
  const U32 rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
  return select(is_nan(value), bits >> 16 | 0x40U, rounded);
}

ALWAYS_INLINE U32 pack(U16 low, U16 high) { return convert<U32>(low) | convert<U32>(high) << 16; }

// Toward zero: what f32 has beyond f16's bits is cut off; numbers too large give the largest f16.
ALWAYS_INLINE U16 half_toward_zero(F32 value) {
  const U32 bits = bits_as<U32>(value);
  const F32 magnitude = absolute(value);
  const I32 normal = magnitude >= 0x1p-14F;
  // Normal results drop 13 bits; denormal ones are multiples of 2^-24.
  const F32 cut = bits_as<F32>(bits & ~0x1FFFU);
  const F32 steps =
      __builtin_elementwise_trunc(select(normal, (F32)0.0F, value) * 0x1p24F) * 0x1p-24F;
  F32 exact = select(normal, cut, steps);
  const I32 large = (magnitude >= 65536.0F) & ~is_infinite(value) & ~is_nan(value);
  exact = select(large, with_sign((F32)65504.0F, bits & 0x8000'0000U), exact);
  exact = is_nan(value) ? quieted(value) : exact;
  const U16 half = bits_as<U16>(narrowed(exact));
  return half | convert<U16>(bits >> 16 & 0x8000U);
}

// Saturating conversions to 16 bits, toward zero; NaN to 0.
ALWAYS_INLINE I32 limited(I32 value, int low, int high) {
  return __builtin_elementwise_min(__builtin_elementwise_max(value, (I32)low), (I32)high);
}
ALWAYS_INLINE I16 to_i16(I32 value) { return convert<I16>(limited(value, -0x8000, 0x7FFF)); }
ALWAYS_INLINE U16 to_u16(I32 value) {
  return convert<U16>(bits_as<U32>(limited(value, 0, 0xFFFF)));
}

// To a fraction of the largest integer, to nearest even.
ALWAYS_INLINE F32 unit_range(F32 value, float low) {
  const F32 limited_value =
      __builtin_elementwise_min(__builtin_elementwise_max(value, (F32)low), (F32)1.0F);
  return is_nan(value) ? (F32)0.0F : limited_value;
}
ALWAYS_INLINE I16 to_normalized_i16(F32 value) {
  return to_i16(to_signed(__builtin_elementwise_roundeven(unit_range(value, -1.0F) * 32767.0F)));
}
ALWAYS_INLINE U16 to_normalized_u16(F32 value) {
  return to_u16(to_signed(__builtin_elementwise_roundeven(unit_range(value, 0.0F) * 65535.0F)));
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
