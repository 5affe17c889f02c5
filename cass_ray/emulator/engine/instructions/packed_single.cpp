// Two f32 or two dwords at once (MI300 ISA, 12.11 VOP3P).
#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;

// The lower or upper dword of a source. An inline constant is the lower one.
ALWAYS_INLINE U32 dword(Wave& w, const Operand& operand, bool upper) {
  switch (operand.kind) {
    case OperandKind::vector: return place<U32>(w, operand.value + (upper ? w.row_stride : 0));
    case OperandKind::scalar: return (U32)place<u32>(w, operand.value + (upper ? 4 : 0));
    default: return (U32)(upper ? 0U : operand.value);
  }
}
// Which one the result's dword works on: op_sel for the lower, op_sel_hi for the upper.
ALWAYS_INLINE F32 chosen(Wave& w, const Instruction& i, int n, bool upper) {
  const Operand& operand = i.source[n];
  const u32 selector = upper ? modifier::select_high : modifier::high;
  U32 value = dword(w, operand, (operand.modifiers & selector) != 0);
  const u32 negation = upper ? modifier::negate_high : modifier::negate;
  if ((operand.modifiers & negation) != 0) value ^= 0x8000'0000U;
  return bits_as<F32>(value);
}

template <class Function>
ALWAYS_INLINE void both_dwords(Wave& w, const Instruction& i, Function function) {
  F32 results[2];
  for (int upper = 0; upper < 2; ++upper) {
    results[upper] = output_modifiers<F32, I32>(w, i, function(upper != 0));
  }
  const u32 exec = exec_of(w, i);
  write_row(w, exec, i.destination.value, bits_as<U32>(results[0]));
  write_row(w, exec, i.destination.value + w.row_stride, bits_as<U32>(results[1]));
}

OPERATION(v_pk_add_f32) {
  both_dwords(w, i, [&](bool upper) { return chosen(w, i, 0, upper) + chosen(w, i, 1, upper); });
}
OPERATION(v_pk_mul_f32) {
  both_dwords(w, i, [&](bool upper) { return chosen(w, i, 0, upper) * chosen(w, i, 1, upper); });
}
OPERATION(v_pk_fma_f32) {
  both_dwords(w, i, [&](bool upper) {
    return __builtin_elementwise_fma(chosen(w, i, 0, upper), chosen(w, i, 1, upper),
                                     chosen(w, i, 2, upper));
  });
}
// A dword of the first source, and one of the second.
OPERATION(v_pk_mov_b32) {
  const U32 low = dword(w, i.source[0], (i.source[0].modifiers & modifier::high) != 0);
  const U32 high = dword(w, i.source[1], (i.source[1].modifiers & modifier::high) != 0);
  const u32 exec = exec_of(w, i);
  write_row(w, exec, i.destination.value, low);
  write_row(w, exec, i.destination.value + w.row_stride, high);
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
