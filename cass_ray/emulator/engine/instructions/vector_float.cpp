// f32 instructions (RDNA3 ISA, 16.7 VOP2, 16.8 VOP1, 16.10 VOP3).
#include "elementary.hpp"
#include "float_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

// ---- arithmetic

ALWAYS_INLINE F32 fused(F32 a, F32 b, F32 c) { return __builtin_elementwise_fma(a, b, c); }
// DX9: zero times anything is zero.
ALWAYS_INLINE I32 either_zero(F32 a, F32 b) { return (a == 0.0F) | (b == 0.0F); }

BINARY(v_add_f32, F32, F32, a + b)
BINARY(v_sub_f32, F32, F32, a - b)
BINARY(v_subrev_f32, F32, F32, b - a)
BINARY(v_mul_f32, F32, F32, a* b)
BINARY(v_mul_dx9_zero_f32, F32, F32, either_zero(a, b) ? (F32)0.0F : a* b)
TERNARY(v_fma_f32, F32, F32, fused(a, b, c))
TERNARY(v_fmaak_f32, F32, F32, fused(a, b, c))
TERNARY(v_fmamk_f32, F32, F32, fused(a, b, c))
TERNARY(v_fma_dx9_zero_f32, F32, F32, fused(either_zero(a, b) ? (F32)0.0F : a, b, c))
ALWAYS_INLINE F32 accumulator(Wave& w, const Instruction& i) {
  return place<F32>(w, i.destination.value);
}
BINARY(v_fmac_f32, F32, F32, fused(a, b, accumulator(w, i)))
BINARY(v_fmac_dx9_zero_f32, F32, F32,
       either_zero(a, b) ? (F32)0.0F + accumulator(w, i) : fused(a, b, accumulator(w, i)))

BINARY(v_min_f32, F32, F32, minimum(w, a, b))
BINARY(v_max_f32, F32, F32, maximum(w, a, b))
TERNARY(v_min3_f32, F32, F32, minimum(w, minimum(w, a, b), c))
TERNARY(v_max3_f32, F32, F32, maximum(w, maximum(w, a, b), c))
TERNARY(v_med3_f32, F32, F32, median(w, a, b, c))
TERNARY(v_maxmin_f32, F32, F32, minimum(w, maximum(w, a, b), c))
TERNARY(v_minmax_f32, F32, F32, maximum(w, minimum(w, a, b), c))

BINARY(v_minimum_f32, F32, F32, ordered_minimum(w, a, b))
BINARY(v_maximum_f32, F32, F32, ordered_maximum(w, a, b))
TERNARY(v_minimum3_f32, F32, F32, ordered_minimum(w, ordered_minimum(w, a, b), c))
TERNARY(v_maximum3_f32, F32, F32, ordered_maximum(w, ordered_maximum(w, a, b), c))
TERNARY(v_minimummaximum_f32, F32, F32, ordered_maximum(w, ordered_minimum(w, a, b), c))
TERNARY(v_maximumminimum_f32, F32, F32, ordered_minimum(w, ordered_maximum(w, a, b), c))

// ---- rounding

UNARY(v_trunc_f32, F32, F32, __builtin_elementwise_trunc(a))
UNARY(v_ceil_f32, F32, F32, __builtin_elementwise_ceil(a))
UNARY(v_floor_f32, F32, F32, __builtin_elementwise_floor(a))
UNARY(v_rndne_f32, F32, F32, __builtin_elementwise_roundeven(a))
UNARY(v_fract_f32, F32, F32, fraction(a, (F32)0x1.fffffep-1F))

// ---- conversions

UNARY(v_cvt_f32_i32, I32, F32, convert<F32>(a))
UNARY(v_cvt_f32_u32, U32, F32, float_from_unsigned(a))
UNARY(v_cvt_i32_f32, F32, I32, to_signed(a))
UNARY(v_cvt_u32_f32, F32, U32, to_unsigned(a))
UNARY(v_cvt_nearest_i32_f32, F32, I32, to_signed(__builtin_elementwise_floor(a + 0.5F)))
UNARY(v_cvt_floor_i32_f32, F32, I32, to_signed(__builtin_elementwise_floor(a)))
OPERATION(v_cvt_f32_bf16) { write_bits(w, i, convert<U32>(read_u16(w, i.source[0])) << 16); }
UNARY(v_cvt_f32_ubyte0, U32, F32, convert<F32>(a & 0xFFU))
UNARY(v_cvt_f32_ubyte1, U32, F32, convert<F32>(a >> 8 & 0xFFU))
UNARY(v_cvt_f32_ubyte2, U32, F32, convert<F32>(a >> 16 & 0xFFU))
UNARY(v_cvt_f32_ubyte3, U32, F32, convert<F32>(a >> 24))
// A 4-bit signed number in sixteenths.
UNARY(v_cvt_off_f32_i4, U32, F32, convert<F32>(bits_as<I32>(a << 28) >> 28) * 0x1p-4F)
UNARY(v_cvt_f32_f16, F16, F32, convert<F32>(a))

// ---- exponent and mantissa

UNARY(v_frexp_exp_i32_f32, F32, I32, fraction_exponent(a))
UNARY(v_frexp_mant_f32, F32, F32, fraction_mantissa(a))
OPERATION(v_ldexp_f32) { write(w, i, scale_by_power(source<F32>(w, i, 0), source<I32>(w, i, 1))); }

// ---- division

OPERATION(v_div_scale_f32) {
  const Scaled<F32> scaled =
      division_scale(source<F32>(w, i, 0), source<F32>(w, i, 1), source<F32>(w, i, 2));
  write(w, i, scaled.value);
  write_carry(w, i, mask_of(scaled.flags));
}
TERNARY(v_div_fmas_f32, F32, F32,
        division_multiply_add(a, b, c, w.scalar[scalar::vcc + i.half], (w.mode & 3) == 0))
TERNARY(v_div_fixup_f32, F32, F32, division_fixup(a, b, c))

// ---- cube maps (RDNA3 ISA, V_CUBEID_F32 and after): x, y, z; the axis of the largest magnitude,
// z before y before x

struct CubeAxis {
  I32 z, y;  // which axis; x where neither
};
ALWAYS_INLINE CubeAxis cube_axis(F32 x, F32 y, F32 z) {
  const I32 z_first = (absolute(z) >= absolute(x)) & (absolute(z) >= absolute(y));
  return {z_first, ~z_first & (absolute(y) >= absolute(x))};
}
ALWAYS_INLINE F32 by_axis(const CubeAxis& axis, F32 x, F32 y, F32 z) {
  return select(axis.z, z, select(axis.y, y, x));
}
ALWAYS_INLINE F32 face(F32 value, float positive) {
  return value < 0.0F ? (F32)(positive + 1.0F) : (F32)positive;
}
TERNARY(v_cubeid_f32, F32, F32,
        by_axis(cube_axis(a, b, c), face(a, 0.0F), face(b, 2.0F), face(c, 4.0F)))
TERNARY(v_cubesc_f32, F32, F32,
        by_axis(cube_axis(a, b, c), a < 0.0F ? c : -c, a, c < 0.0F ? -a : a))
TERNARY(v_cubetc_f32, F32, F32, by_axis(cube_axis(a, b, c), -b, b < 0.0F ? -c : c, -b))
TERNARY(v_cubema_f32, F32, F32, 2.0F * by_axis(cube_axis(a, b, c), a, b, c))

// The lighting product: the largest negative number where the exponent or the guard is unusable.
ALWAYS_INLINE F32 lighting_product(F32 a, F32 b, F32 c) {
  constexpr float lowest = -0x1.fffffep127F;
  return (b <= lowest) | is_nan(b) | (c <= 0.0F) | is_nan(c) ? (F32)lowest : a * b;
}
TERNARY(v_mullit_f32, F32, F32, lighting_product(a, b, c))

// ---- approximations: within one unit in the last place (RDNA3 ISA, 16.8)

UNARY(v_rcp_f32, F32, F32, 1.0F / a)
UNARY(v_rcp_iflag_f32, F32, F32, 1.0F / a)
UNARY(v_sqrt_f32, F32, F32, __builtin_elementwise_sqrt(a))
UNARY(v_rsq_f32, F32, F32, convert<F32>(1.0 / __builtin_elementwise_sqrt(convert<F64>(a))))
UNARY(v_exp_f32, F32, F32, exponential2(a))
UNARY(v_log_f32, F32, F32, logarithm2(a))
UNARY(v_sin_f32, F32, F32, sine_of_turns(a))
UNARY(v_cos_f32, F32, F32, cosine_of_turns(a))

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
