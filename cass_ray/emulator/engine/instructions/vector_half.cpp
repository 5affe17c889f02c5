// 16-bit instructions: f16, u16, i16, bf16 dot products, conversions that pack two results
// (RDNA3 ISA, 16.7 VOP2, 16.8 VOP1, 16.10 VOP3).
#include "elementary.hpp"
#include "half_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

// Sources a, b, c of f16 with input denormals as MODE says; the result's likewise.
#define HALF1(name, expression)                \
  OPERATION(name) {                            \
    const F16 a = half_source(w, i, 0);        \
    write(w, i, result_half(w, (expression))); \
  }
#define HALF2(name, expression)                \
  OPERATION(name) {                            \
    const F16 a = half_source(w, i, 0);        \
    const F16 b = half_source(w, i, 1);        \
    write(w, i, result_half(w, (expression))); \
  }
#define HALF3(name, expression)                \
  OPERATION(name) {                            \
    const F16 a = half_source(w, i, 0);        \
    const F16 b = half_source(w, i, 1);        \
    const F16 c = half_source(w, i, 2);        \
    write(w, i, result_half(w, (expression))); \
  }

// ---- f16 arithmetic: sums and products of f16 are exact enough in f32 to round once

HALF2(v_add_f16, narrowed(widened(a) + widened(b)))
HALF2(v_sub_f16, narrowed(widened(a) - widened(b)))
HALF2(v_subrev_f16, narrowed(widened(b) - widened(a)))
HALF2(v_mul_f16, narrowed(widened(a) * widened(b)))
HALF3(v_fma_f16, fused(a, b, c))
HALF3(v_fmaak_f16, fused(a, b, c))
HALF3(v_fmamk_f16, fused(a, b, c))
ALWAYS_INLINE F16 accumulator(Wave& w, const Instruction& i) {
  return input_half(w, bits_as<F16>(read_u16(w, i.destination)));
}
HALF2(v_fmac_f16, fused(a, b, accumulator(w, i)))

HALF2(v_min_f16, minimum(w, a, b))
HALF2(v_max_f16, maximum(w, a, b))
HALF3(v_min3_f16, minimum(w, minimum(w, a, b), c))
HALF3(v_max3_f16, maximum(w, maximum(w, a, b), c))
HALF3(v_med3_f16, median(w, a, b, c))
HALF3(v_maxmin_f16, minimum(w, maximum(w, a, b), c))
HALF3(v_minmax_f16, maximum(w, minimum(w, a, b), c))

HALF2(v_minimum_f16, ordered_minimum(w, a, b))
HALF2(v_maximum_f16, ordered_maximum(w, a, b))
HALF3(v_minimum3_f16, ordered_minimum(w, ordered_minimum(w, a, b), c))
HALF3(v_maximum3_f16, ordered_maximum(w, ordered_maximum(w, a, b), c))
HALF3(v_minimummaximum_f16, ordered_maximum(w, ordered_minimum(w, a, b), c))
HALF3(v_maximumminimum_f16, ordered_minimum(w, ordered_maximum(w, a, b), c))

HALF1(v_trunc_f16, narrowed(__builtin_elementwise_trunc(widened(a))))
HALF1(v_ceil_f16, narrowed(__builtin_elementwise_ceil(widened(a))))
HALF1(v_floor_f16, narrowed(__builtin_elementwise_floor(widened(a))))
HALF1(v_rndne_f16, narrowed(__builtin_elementwise_roundeven(widened(a))))
// Just below 1 at most: a tiny negative number's fraction would round up to it.
HALF1(v_fract_f16, narrowed(fraction(widened(a), (F32)0x1.ffcp-1F)))

HALF1(v_rcp_f16, narrowed(1.0F / widened(a)))
HALF1(v_sqrt_f16, narrowed(__builtin_elementwise_sqrt(widened(a))))
HALF1(v_rsq_f16, narrowed(1.0 / __builtin_elementwise_sqrt(convert<F64>(widened(a)))))
HALF1(v_exp_f16, narrowed(exponential2(widened(a))))
HALF1(v_log_f16, narrowed(logarithm2(widened(a))))
HALF1(v_sin_f16, narrowed(sine_of_turns(widened(a))))
HALF1(v_cos_f16, narrowed(cosine_of_turns(widened(a))))

OPERATION(v_ldexp_f16) {
  const F32 a = widened(half_source(w, i, 0));
  const I32 b = convert<I32>(source<I16>(w, i, 1));
  // Exact in f32 for |b| up to 64, beyond any f16 exponent.
  const I32 limited_exponent = limited(b, -64, 64);
  write(w, i, result_half(w, narrowed(scale_by_power(a, limited_exponent))));
}
OPERATION(v_frexp_exp_i16_f16) {
  write(w, i, convert<I16>(fraction_exponent(widened(half_source(w, i, 0)))));
}
HALF1(v_frexp_mant_f16, narrowed(fraction_mantissa(widened(a))))
OPERATION(v_div_fixup_f16) {
  const F32 q = widened(half_source(w, i, 0)), d = widened(half_source(w, i, 1)),
            n = widened(half_source(w, i, 2));
  write(w, i, result_half(w, narrowed(division_fixup(q, d, n))));
}

// ---- conversions

OPERATION(v_cvt_f16_f32) { write(w, i, result_half(w, narrowed(source<F32>(w, i, 0)))); }
OPERATION(v_cvt_f16_u16) { write(w, i, narrowed(convert<F32>(source<U16>(w, i, 0)))); }
OPERATION(v_cvt_f16_i16) { write(w, i, narrowed(convert<F32>(source<I16>(w, i, 0)))); }
OPERATION(v_cvt_u16_f16) { write(w, i, to_u16(to_signed(widened(half_source(w, i, 0))))); }
OPERATION(v_cvt_i16_f16) { write(w, i, to_i16(to_signed(widened(half_source(w, i, 0))))); }
OPERATION(v_cvt_norm_i16_f16) { write(w, i, to_normalized_i16(widened(half_source(w, i, 0)))); }
OPERATION(v_cvt_norm_u16_f16) { write(w, i, to_normalized_u16(widened(half_source(w, i, 0)))); }

// gfx950: to nearest even, whatever MODE says.
OPERATION(v_cvt_pk_f16_f32) {
  const F16 low = result_half(w, narrowed(source<F32>(w, i, 0)));
  const F16 high = result_half(w, narrowed(source<F32>(w, i, 1)));
  write(w, i, pack(bits_as<U16>(low), bits_as<U16>(high)));
}
OPERATION(v_cvt_pk_bf16_f32) {
  const U32 low = bfloat_of(source<F32>(w, i, 0)), high = bfloat_of(source<F32>(w, i, 1));
  write(w, i, pack(convert<U16>(low), convert<U16>(high)));
}
OPERATION(v_cvt_pk_rtz_f16_f32) {
  write(w, i, pack(half_toward_zero(source<F32>(w, i, 0)), half_toward_zero(source<F32>(w, i, 1))));
}
#define PACK(name, T, conversion)                                                               \
  OPERATION(name) {                                                                             \
    const auto first = conversion(source<T>(w, i, 0)), second = conversion(source<T>(w, i, 1)); \
    write(w, i, pack(bits_as<U16>(first), bits_as<U16>(second)));                               \
  }
ALWAYS_INLINE I16 f32_to_i16(F32 value) { return to_i16(to_signed(value)); }
ALWAYS_INLINE U16 f32_to_u16(F32 value) { return to_u16(to_signed(value)); }
ALWAYS_INLINE U16 u32_to_u16(U32 value) {
  return convert<U16>(__builtin_elementwise_min(value, (U32)0xFFFFU));
}
ALWAYS_INLINE I16 normalized_i16_of_half(F16 value) { return to_normalized_i16(widened(value)); }
ALWAYS_INLINE U16 normalized_u16_of_half(F16 value) { return to_normalized_u16(widened(value)); }
PACK(v_cvt_pk_i16_f32, F32, f32_to_i16)
PACK(v_cvt_pk_u16_f32, F32, f32_to_u16)
PACK(v_cvt_pk_i16_i32, I32, to_i16)
PACK(v_cvt_pk_u16_u32, U32, u32_to_u16)
PACK(v_cvt_pk_norm_i16_f32, F32, to_normalized_i16)
PACK(v_cvt_pk_norm_u16_f32, F32, to_normalized_u16)
PACK(v_cvt_pk_norm_i16_f16, F16, normalized_i16_of_half)
PACK(v_cvt_pk_norm_u16_f16, F16, normalized_u16_of_half)
OPERATION(v_pack_b32_f16) {
  const F16 low = half_source(w, i, 0), high = half_source(w, i, 1);
  write(w, i, pack(bits_as<U16>(low), bits_as<U16>(high)));
}
// One byte of the third source is replaced by the number, rounded to nearest even.
OPERATION(v_cvt_pk_u8_f32) {
  const F32 rounded = __builtin_elementwise_roundeven(source<F32>(w, i, 0));
  const U32 byte = bits_as<U32>(limited(to_signed(rounded), 0, 255));
  const U32 at = (source<U32>(w, i, 1) & 3U) * 8U;
  write(w, i, (source<U32>(w, i, 2) & ~((U32)0xFFU << at)) | byte << at);
}
OPERATION(v_sat_pk_u8_i16) {
  const U32 both = source<U32>(w, i, 0);
  const I32 low = bits_as<I32>(both << 16) >> 16, high = bits_as<I32>(both) >> 16;
  write(w, i, convert<U16>(bits_as<U32>(limited(low, 0, 255) | limited(high, 0, 255) << 8)));
}

// ---- 16-bit integers

ALWAYS_INLINE bool clamps(const Instruction& i) { return (i.flags & flag::clamp) != 0; }
ALWAYS_INLINE U16 unsigned_result(const Instruction& i, I32 exact) {
  return clamps(i) ? to_u16(exact) : convert<U16>(bits_as<U32>(exact));
}
ALWAYS_INLINE I16 signed_result(const Instruction& i, I32 exact) {
  return clamps(i) ? to_i16(exact) : convert<I16>(exact);
}
ALWAYS_INLINE I32 wide(U16 value) { return convert<I32>(value); }
ALWAYS_INLINE I32 wide(I16 value) { return convert<I32>(value); }
ALWAYS_INLINE U16 multiply_add(const Instruction& i, U16 a, U16 b, U16 c) {
  // Up to 2^32 - 2^16: unsigned.
  const U32 exact = convert<U32>(a) * convert<U32>(b) + convert<U32>(c);
  return clamps(i) ? u32_to_u16(exact) : convert<U16>(exact);
}
BINARY(v_add_nc_u16, U16, U16, unsigned_result(i, wide(a) + wide(b)))
BINARY(v_sub_nc_u16, U16, U16, unsigned_result(i, wide(a) - wide(b)))
BINARY(v_subrev_u16, U16, U16, unsigned_result(i, wide(b) - wide(a)))
BINARY(v_add_nc_i16, I16, I16, signed_result(i, wide(a) + wide(b)))
BINARY(v_sub_nc_i16, I16, I16, signed_result(i, wide(a) - wide(b)))
BINARY(v_mul_lo_u16, U16, U16, a* b)
TERNARY(v_mad_u16, U16, U16, multiply_add(i, a, b, c))
TERNARY(v_mad_i16, I16, I16, signed_result(i, wide(a) * wide(b) + wide(c)))
template <class T>
ALWAYS_INLINE T least(T a, T b) {
  return __builtin_elementwise_min(a, b);
}
template <class T>
ALWAYS_INLINE T greatest(T a, T b) {
  return __builtin_elementwise_max(a, b);
}
#define ORDERED(suffix, T)                                    \
  BINARY(v_min_##suffix, T, T, least(a, b))                   \
  BINARY(v_max_##suffix, T, T, greatest(a, b))                \
  TERNARY(v_min3_##suffix, T, T, least(least(a, b), c))       \
  TERNARY(v_max3_##suffix, T, T, greatest(greatest(a, b), c)) \
  TERNARY(v_med3_##suffix, T, T, greatest(least(a, b), least(greatest(a, b), c)))
ORDERED(u16, U16)
ORDERED(i16, I16)
BINARY(v_lshlrev_b16, U16, U16, b << (a & (u16)15))
BINARY(v_lshrrev_b16, U16, U16, b >> (a & (u16)15))
BINARY(v_ashrrev_i16, I16, I16, b >> (a & (std::int16_t)15))
BINARY(v_and_b16, U16, U16, a& b)
BINARY(v_or_b16, U16, U16, a | b)
BINARY(v_xor_b16, U16, U16, a ^ b)
UNARY(v_not_b16, U16, U16, ~a)
UNARY(v_mov_b16, F16, U16, bits_as<U16>(a))
OPERATION(v_swap_b16) {
  const U16 a = read_u16(w, i.destination), b = read_u16(w, i.source[0]);
  Instruction other = i;
  other.destination = i.source[0];
  write_bits(w, i, b);
  write_bits(w, other, a);
}
OPERATION(v_cndmask_b16) {
  const F16 a = source<F16>(w, i, 0), b = source<F16>(w, i, 1);
  const I16 chosen = convert<I16>(lanes_of(mask_operand(w, i.source[2])));
  write_bits(w, i, chosen ? bits_as<U16>(b) : bits_as<U16>(a));
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
