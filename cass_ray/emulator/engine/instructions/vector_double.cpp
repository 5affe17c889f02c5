// f64 instructions (RDNA3 ISA, 16.8 VOP1, 16.10 VOP3).
#include "float_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

BINARY(v_add_f64, F64, F64, a + b)
BINARY(v_mul_f64, F64, F64, a* b)
BINARY(v_min_f64, F64, F64, minimum(w, a, b))
BINARY(v_max_f64, F64, F64, maximum(w, a, b))
BINARY(v_minimum_f64, F64, F64, ordered_minimum(w, a, b))
BINARY(v_maximum_f64, F64, F64, ordered_maximum(w, a, b))
TERNARY(v_fma_f64, F64, F64, __builtin_elementwise_fma(a, b, c))

OPERATION(v_fmac_f64) {
  const U64 old = read_u64(w, i.destination);
  write(w, i,
        F64(__builtin_elementwise_fma(source<F64>(w, i, 0), source<F64>(w, i, 1),
                                      bits_as<F64>(old))));
}

UNARY(v_trunc_f64, F64, F64, __builtin_elementwise_trunc(a))
UNARY(v_ceil_f64, F64, F64, __builtin_elementwise_ceil(a))
UNARY(v_floor_f64, F64, F64, __builtin_elementwise_floor(a))
UNARY(v_rndne_f64, F64, F64, __builtin_elementwise_roundeven(a))
UNARY(v_fract_f64, F64, F64, fraction(a, (F64)0x1.fffffffffffffp-1))

UNARY(v_cvt_f64_i32, I32, F64, convert<F64>(a))
UNARY(v_cvt_f64_u32, U32, F64, double_from_unsigned(a))
UNARY(v_cvt_f64_f32, F32, F64, convert<F64>(a))
UNARY(v_cvt_f32_f64, F64, F32, convert<F32>(a))
UNARY(v_cvt_i32_f64, F64, I32, to_signed(a))
UNARY(v_cvt_u32_f64, F64, U32, to_unsigned(a))

UNARY(v_frexp_exp_i32_f64, F64, I32, convert<I32>(fraction_exponent(a)))
UNARY(v_frexp_mant_f64, F64, F64, fraction_mantissa(a))
OPERATION(v_ldexp_f64) { write(w, i, scale_by_power(source<F64>(w, i, 0), source<I32>(w, i, 1))); }

UNARY(v_rcp_f64, F64, F64, 1.0 / a)
UNARY(v_sqrt_f64, F64, F64, __builtin_elementwise_sqrt(a))
UNARY(v_rsq_f64, F64, F64, 1.0 / __builtin_elementwise_sqrt(a))

OPERATION(v_div_scale_f64) {
  const Scaled<F64> scaled =
      division_scale(source<F64>(w, i, 0), source<F64>(w, i, 1), source<F64>(w, i, 2));
  write(w, i, scaled.value);
  write_carry(w, i, mask_of(scaled.flags));
}
TERNARY(v_div_fmas_f64, F64, F64,
        division_multiply_add(a, b, c, w.scalar[scalar::vcc + i.half], (w.mode & 0xC) == 0))
TERNARY(v_div_fixup_f64, F64, F64, division_fixup(a, b, c))

// 2 / pi, 1216 bits behind the point.
constexpr std::uint64_t two_over_pi[] = {
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
    0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB};

// 53 bits of 2 / pi from bit `shift` on, for range reduction by Payne and Hanek.
ALWAYS_INLINE double piece_of_two_over_pi(std::uint64_t value, std::uint32_t segment) {
  constexpr unsigned known_bits = 1201;
  const unsigned exponent = static_cast<unsigned>(value >> 52) & 0x7FF;
  unsigned shift = (segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  std::uint64_t bits = 0;
  for (unsigned k = 0; k < 53; ++k) {
    const unsigned at = shift + k;
    const std::uint64_t bit = at < known_bits ? two_over_pi[at / 64] >> (63 - at % 64) & 1 : 0;
    bits = bits << 1 | bit;
  }
  const int scale = -53 - static_cast<int>(shift) + (exponent >= 1968 ? 128 : 0);
  // In two factors: the scale alone may lie below the normal range.
  const auto power = [](int e) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(e + 1023) << 52);
  };
  const double result = static_cast<double>(bits) * power(scale < -1000 ? -1000 : scale);
  return scale < -1000 ? result * power(scale + 1000) : result;
}
OPERATION(v_trig_preop_f64) {
  const U64 a = bits_as<U64>(source<F64>(w, i, 0));
  const U32 b = source<U32>(w, i, 1);
  F64 result;
  for (int lane = 0; lane < 32; ++lane) result[lane] = piece_of_two_over_pi(a[lane], b[lane]);
  write(w, i, result);
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
