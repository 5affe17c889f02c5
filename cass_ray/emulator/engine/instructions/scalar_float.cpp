// f32 and f16 in scalar registers (RDNA4 ISA, 16.1 SOP2, 16.3 SOP1, 16.4 SOPC, and V_S_EXP_F32 and
// after in 16.11 VOP3). Results of 16 bits clear the upper half.
#include "elementary.hpp"
#include "half_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;

// The same value in every lane: the compiler computes one of them.
ALWAYS_INLINE F32 single(Wave& w, const Instruction& i, int n) {
  u32 bits = scalar_u32(w, i.source[n]);
  if ((i.source[n].modifiers & modifier::absolute) != 0) bits &= 0x7FFF'FFFF;
  if ((i.source[n].modifiers & modifier::negate) != 0) bits ^= 0x8000'0000;
  return bits_as<F32>((U32)bits);
}
ALWAYS_INLINE F16 half_of(Wave& w, u32 bits) {
  return input_half(w, bits_as<F16>((U16) static_cast<u16>(bits)));
}
ALWAYS_INLINE F16 half(Wave& w, const Instruction& i, int n) {
  u32 bits = scalar_u32(w, i.source[n]);
  if ((i.source[n].modifiers & modifier::high) != 0) bits >>= 16;
  if ((i.source[n].modifiers & modifier::absolute) != 0) bits &= 0x7FFF;
  if ((i.source[n].modifiers & modifier::negate) != 0) bits ^= 0x8000;
  return half_of(w, bits);
}

ALWAYS_INLINE void put(Wave& w, const Instruction& i, F32 value) {
  if ((i.output_scale | (i.flags & flag::clamp)) != 0) {
    value = output_modifiers<F32, I32>(w, i, value);
  }
  write_scalar(w, i.destination, bits_as<U32>(value)[0]);
}
ALWAYS_INLINE void put(Wave& w, const Instruction& i, F16 value) {
  value = result_half(w, value);
  if ((i.output_scale | (i.flags & flag::clamp)) != 0) {
    value = output_modifiers<F16, I16>(w, i, value);
  }
  write_scalar(w, i.destination, bits_as<U16>(value)[0]);
}
ALWAYS_INLINE void put(Wave& w, const Instruction& i, I32 value) {
  write_scalar(w, i.destination, bits_as<U32>(value)[0]);
}
ALWAYS_INLINE void put(Wave& w, const Instruction& i, U32 value) {
  write_scalar(w, i.destination, value[0]);
}

#define ONE(name, read, expression) \
  OPERATION(name) {                 \
    const auto a = read(w, i, 0);   \
    put(w, i, (expression));        \
  }
#define PAIR(name, read, expression) \
  OPERATION(name) {                  \
    const auto a = read(w, i, 0);    \
    const auto b = read(w, i, 1);    \
    put(w, i, (expression));         \
  }
#define SUM(name, expression)                                             \
  OPERATION(name) {                                                       \
    const F32 a = single(w, i, 0), b = single(w, i, 1), c = (expression); \
    put(w, i, F32(__builtin_elementwise_fma(a, b, c)));                   \
  }

// ---- arithmetic

PAIR(s_add_f32, single, a + b)
PAIR(s_sub_f32, single, a - b)
PAIR(s_mul_f32, single, a* b)
SUM(s_fmaak_f32, single(w, i, 2))
SUM(s_fmamk_f32, single(w, i, 2))
SUM(s_fmac_f32, bits_as<F32>((U32)place<u32>(w, i.destination.value)))
PAIR(s_add_f16, half, narrowed(widened(a) + widened(b)))
PAIR(s_sub_f16, half, narrowed(widened(a) - widened(b)))
PAIR(s_mul_f16, half, narrowed(widened(a) * widened(b)))
PAIR(s_fmac_f16, half, fused(a, b, half_of(w, place<u32>(w, i.destination.value))))

#define EXTREMA(suffix, read)                              \
  PAIR(s_min_num_##suffix, read, minimum(w, a, b))         \
  PAIR(s_max_num_##suffix, read, maximum(w, a, b))         \
  PAIR(s_minimum_##suffix, read, ordered_minimum(w, a, b)) \
  PAIR(s_maximum_##suffix, read, ordered_maximum(w, a, b))
EXTREMA(f32, single)
EXTREMA(f16, half)

// ---- rounding and conversions

ONE(s_trunc_f32, single, F32(__builtin_elementwise_trunc(a)))
ONE(s_ceil_f32, single, F32(__builtin_elementwise_ceil(a)))
ONE(s_floor_f32, single, F32(__builtin_elementwise_floor(a)))
ONE(s_rndne_f32, single, F32(__builtin_elementwise_roundeven(a)))
ONE(s_trunc_f16, half, narrowed(F32(__builtin_elementwise_trunc(widened(a)))))
ONE(s_ceil_f16, half, narrowed(F32(__builtin_elementwise_ceil(widened(a)))))
ONE(s_floor_f16, half, narrowed(F32(__builtin_elementwise_floor(widened(a)))))
ONE(s_rndne_f16, half, narrowed(F32(__builtin_elementwise_roundeven(widened(a)))))

ALWAYS_INLINE U32 word(Wave& w, const Instruction& i, int n) {
  return (U32)scalar_u32(w, i.source[n]);
}
ONE(s_cvt_f32_i32, word, convert<F32>(bits_as<I32>(a)))
ONE(s_cvt_f32_u32, word, float_from_unsigned(a))
ONE(s_cvt_i32_f32, single, to_signed(a))
ONE(s_cvt_u32_f32, single, to_unsigned(a))
ONE(s_cvt_f16_f32, single, narrowed(a))
ONE(s_cvt_f32_f16, half, widened(a))
OPERATION(s_cvt_hi_f32_f16) { put(w, i, widened(half_of(w, scalar_u32(w, i.source[0]) >> 16))); }
PAIR(s_cvt_pk_rtz_f16_f32, single, pack(half_toward_zero(a), half_toward_zero(b)))

// ---- comparisons

#define COMPARE(name, expression)                                             \
  OPERATION(s_cmp_##name##_f32) {                                             \
    const float a = single(w, i, 0)[0], b = single(w, i, 1)[0];               \
    w.scalar[scalar::scc] = (expression);                                     \
  }                                                                           \
  OPERATION(s_cmp_##name##_f16) {                                             \
    const float a = widened(half(w, i, 0))[0], b = widened(half(w, i, 1))[0]; \
    w.scalar[scalar::scc] = (expression);                                     \
  }
COMPARE(lt, a < b)
COMPARE(eq, a == b)
COMPARE(le, a <= b)
COMPARE(gt, a > b)
COMPARE(lg, a<b || a> b)
COMPARE(ge, a >= b)
COMPARE(o, a == a && b == b)
COMPARE(u, a != a || b != b)
COMPARE(nge, !(a >= b))
COMPARE(nlg, !(a < b || a > b))
COMPARE(ngt, !(a > b))
COMPARE(nle, !(a <= b))
COMPARE(neq, !(a == b))
COMPARE(nlt, !(a < b))

// ---- approximations of the vector unit, on scalars

ONE(v_s_exp_f32, single, exponential2(a))
ONE(v_s_log_f32, single, logarithm2(a))
ONE(v_s_rcp_f32, single, 1.0F / a)
ONE(v_s_sqrt_f32, single, F32(__builtin_elementwise_sqrt(a)))
ONE(v_s_rsq_f32, single, convert<F32>(1.0 / __builtin_elementwise_sqrt(convert<F64>(a))))
ONE(v_s_exp_f16, half, narrowed(exponential2(widened(a))))
ONE(v_s_log_f16, half, narrowed(logarithm2(widened(a))))
ONE(v_s_rcp_f16, half, narrowed(1.0F / widened(a)))
ONE(v_s_sqrt_f16, half, narrowed(F32(__builtin_elementwise_sqrt(widened(a)))))
ONE(v_s_rsq_f16, half, narrowed(1.0 / __builtin_elementwise_sqrt(convert<F64>(widened(a)))))

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
