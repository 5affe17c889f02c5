#include "opcode_facts.hpp"

#include <string_view>

namespace cass::amdgpu {
namespace {

// Matrix products of a whole wave.
bool is_matrix(Opcode opcode) {
  const std::string_view name = mnemonic(opcode);
  return name.starts_with("v_mfma") || name.starts_with("v_smfmac") || name.starts_with("v_wmma") ||
         name.starts_with("v_swmmac");
}

}  // namespace

bool is_branch(Opcode opcode) {
  return (opcode >= Opcode::s_cbranch_execnz && opcode <= Opcode::s_cbranch_vccz) ||
         opcode == Opcode::s_branch || opcode == Opcode::s_call_b64;
}
static_assert(Opcode::s_cbranch_execnz < Opcode::s_cbranch_execz &&
              Opcode::s_cbranch_execz < Opcode::s_cbranch_scc0 &&
              Opcode::s_cbranch_scc1 < Opcode::s_cbranch_vccnz);

bool is_vector(Encoding encoding) {
  return encoding >= Encoding::VOP2 && encoding != Encoding::SMEM;
}

bool is_float(Type type) {
  return type == Type::f16 || type == Type::f32 || type == Type::f64 || type == Type::pk16 ||
         type == Type::mix;
}

bool is_packed_f32(Opcode opcode) {
  return opcode == Opcode::v_pk_fma_f32 || opcode == Opcode::v_pk_mul_f32 ||
         opcode == Opcode::v_pk_add_f32;
}

bool depends_on_mode(const OpcodeRow& row) {
  if (is_packed_f32(row.opcode)) return true;
  if (row.encoding == Encoding::SMEM || row.encoding >= Encoding::VINTERP) return false;
  if (row.opcode == Opcode::v_cndmask_b32 || row.opcode == Opcode::v_cndmask_b16) return false;
  return is_float(row.destination) || is_float(row.source[0]) || is_float(row.source[1]);
}

bool once_for_both_halves(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_readlane_b32:
    case Opcode::v_readfirstlane_b32:
    case Opcode::v_writelane_b32:
    case Opcode::v_permlane64_b32:
    case Opcode::v_permlane32_swap_b32:
    case Opcode::ds_load_b64_tr_b16:
    case Opcode::ds_append:
    case Opcode::ds_consume:
    case Opcode::ds_gws_barrier:
    case Opcode::ds_gws_init:
    case Opcode::ds_bpermute_b32_gfx9:
    case Opcode::ds_permute_b32_gfx9:
    case Opcode::ds_bpermute_fi_b32:
    case Opcode::ds_bpermute_b32_gfx12:
    case Opcode::ds_permute_b32_gfx12:
    case Opcode::v_s_exp_f32:
    case Opcode::v_s_exp_f16:
    case Opcode::v_s_log_f32:
    case Opcode::v_s_log_f16:
    case Opcode::v_s_rcp_f32:
    case Opcode::v_s_rcp_f16:
    case Opcode::v_s_rsq_f32:
    case Opcode::v_s_rsq_f16:
    case Opcode::v_s_sqrt_f32:
    case Opcode::v_s_sqrt_f16: return true;
    default: return is_matrix(opcode);
  }
}

bool accumulates(Opcode opcode) {
  const std::string_view name = mnemonic(opcode);
  return name.find("mac_") != std::string_view::npos || name.starts_with("v_dot");
}

}  // namespace cass::amdgpu
