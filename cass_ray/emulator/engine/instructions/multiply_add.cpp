// Multiplication and addition with a rounding each, which gfx9 has beside the fused ones (MI300
// ISA, 12.7 VOP2, 12.10 VOP3; Vega ISA for f32). Those of f32 flush denormals whatever MODE says.
#include "float_common.hpp"
#include "half_common.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

ALWAYS_INLINE F32 no_denormal(F32 value) {
  const U32 sign = bits_as<U32>(value) & 0x8000'0000U;
  return is_denormal(value) ? bits_as<F32>(sign) : value;
}
ALWAYS_INLINE F32 twice_rounded(F32 a, F32 b, F32 c) {
  return no_denormal(no_denormal(no_denormal(a) * no_denormal(b)) + no_denormal(c));
}
ALWAYS_INLINE F32 old_value(Wave& w, const Instruction& i) {
  return place<F32>(w, i.destination.value);
}
TERNARY(v_mad_f32, F32, F32, twice_rounded(a, b, c))
TERNARY(v_madak_f32, F32, F32, twice_rounded(a, b, c))
TERNARY(v_madmk_f32, F32, F32, twice_rounded(a, b, c))
BINARY(v_mac_f32, F32, F32, twice_rounded(a, b, old_value(w, i)))
// Zero times anything is zero.
TERNARY(v_mad_legacy_f32, F32, F32,
        (a == 0.0F) | (b == 0.0F) ? no_denormal(c) : twice_rounded(a, b, c))

ALWAYS_INLINE F16 twice_rounded(F16 a, F16 b, F16 c) {
  return narrowed(widened(narrowed(widened(a) * widened(b))) + widened(c));
}
#define HALF_MULTIPLY_ADD(name, addend)                                       \
  OPERATION(name) {                                                           \
    const F16 a = half_source(w, i, 0), b = half_source(w, i, 1), c = addend; \
    write(w, i, result_half(w, twice_rounded(a, b, c)));                      \
  }
HALF_MULTIPLY_ADD(v_mad_f16, half_source(w, i, 2))
HALF_MULTIPLY_ADD(v_madak_f16, half_source(w, i, 2))
HALF_MULTIPLY_ADD(v_madmk_f16, half_source(w, i, 2))
HALF_MULTIPLY_ADD(v_mac_f16, input_half(w, bits_as<F16>(read_u16(w, i.destination))))

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
