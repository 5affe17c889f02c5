// What the formats of all instruction sets have in common (RDNA3 ISA and RDNA4 ISA, chapter 15;
// MI300 ISA, chapter 13).
#include "decoder_base.hpp"

#include <string_view>
#include <utility>

namespace cass::amdgpu {

namespace code = source_code;

bool DecoderBase::scalar_format() {
  const auto word = static_cast<std::uint32_t>(word_);
  Operation& op = operation();
  if (word >> 23 == 0b101111111) {
    if (!find(Encoding::SOPP, bits(word, 16, 7))) return false;
    op.immediate = sign_extend(bits(word, 0, 16), 16);
    return true;
  }
  if (word >> 23 == 0b101111110) {
    if (!find(Encoding::SOPC, bits(word, 16, 7))) return false;
    op.source[0] = scalar_field(bits(word, 0, 8), op.row->source[0]);
    if (op.row->opcode == Opcode::s_set_gpr_idx_on) {
      op.immediate = bits(word, 8, 8);  // which operands are indexed, not a register
    } else {
      op.source[1] = scalar_field(bits(word, 8, 8), op.row->source[1]);
    }
    return take_literal_if_used();
  }
  if (word >> 23 == 0b101111101) {
    if (!find(Encoding::SOP1, bits(word, 8, 8))) return false;
    op.destination = scalar_field(bits(word, 16, 7), op.row->destination);
    op.source[0] = scalar_field(bits(word, 0, 8), op.row->source[0]);
    if (op.row->opcode == Opcode::s_sendmsg_rtn_b32 ||
        op.row->opcode == Opcode::s_sendmsg_rtn_b64) {
      op.immediate = bits(word, 0, 8);  // a message number, not a register
      op.source[0] = {};
    }
    return take_literal_if_used();
  }
  if (word >> 28 == 0b1011) return sopk();
  if (!find(Encoding::SOP2, bits(word, 23, 7))) return false;
  op.destination = scalar_field(bits(word, 16, 7), op.row->destination);
  op.source[0] = scalar_field(bits(word, 0, 8), op.row->source[0]);
  op.source[1] = scalar_field(bits(word, 8, 8), op.row->source[1]);
  if (op.row->source[2] != Type::none) {
    op.source[2] = scalar_field(code::literal, op.row->source[2]);
    if (op.row->opcode == Opcode::s_fmamk_f32) std::swap(op.source[1], op.source[2]);
  }
  return take_literal_if_used();
}

bool DecoderBase::sopk() {
  const auto word = static_cast<std::uint32_t>(word_);
  Operation& op = operation();
  if (!find(Encoding::SOPK, bits(word, 23, 5))) return false;
  op.destination = scalar_field(bits(word, 16, 7), op.row->destination);
  op.immediate = sign_extend(bits(word, 0, 16), 16);
  if (op.row->opcode == Opcode::s_setreg_imm32_b32) {
    op.destination = {};
    op.source[0] = scalar_field(code::literal, Type::b32);
    return take_literal();
  }
  if (op.row->opcode == Opcode::s_setreg_b32) {
    op.source[0] = op.destination;
    op.destination = {};
  }
  return true;
}

void DecoderBase::vop3_operands(bool carries) {
  Operation& op = operation();
  for (unsigned i = 0; i < 3; ++i) {
    Field& field = op.source[i];
    field = {static_cast<std::uint16_t>(bits(word_, 32 + 9 * i, 9)), op.row->source[i], 0};
    if (!field.present()) continue;
    if (takes_sign(field.type) && bits(word_, 61 + i, 1) != 0) field.modifiers |= modifier::negate;
    if (carries) continue;
    if (takes_sign(field.type) && bits(word_, 8 + i, 1) != 0) field.modifiers |= modifier::absolute;
    if (bits(word_, 11 + i, 1) != 0) field.modifiers |= modifier::high;
  }
  if (carries) {
    op.scalar_destination = scalar_field(bits(word_, 8, 7), Type::mask);
  } else {
    if (bits(word_, 14, 1) != 0) op.destination.modifiers |= modifier::high;
    if (bits(word_, 11, 1) != 0) op.flags |= flag::op_sel_0;
    if (bits(word_, 12, 1) != 0) op.flags |= flag::op_sel_1;
  }
  if (bits(word_, 15, 1) != 0) op.flags |= flag::clamp;
  op.output_scale = static_cast<std::uint8_t>(bits(word_, 59, 2));
}

void DecoderBase::packed_operands() {
  Operation& op = operation();
  const unsigned select_high = bits(word_, 59, 2) | bits(word_, 14, 1) << 2;
  for (unsigned i = 0; i < 3; ++i) {
    Field& field = op.source[i];
    field = {static_cast<std::uint16_t>(bits(word_, 32 + 9 * i, 9)), op.row->source[i], 0};
    if (!field.present()) continue;
    if (bits(word_, 61 + i, 1) != 0) field.modifiers |= modifier::negate;
    if (bits(word_, 8 + i, 1) != 0) field.modifiers |= modifier::negate_high;
    if (bits(word_, 11 + i, 1) != 0) field.modifiers |= modifier::high;
    if ((select_high >> i & 1) != 0) field.modifiers |= modifier::select_high;
  }
  if (bits(word_, 15, 1) != 0) op.flags |= flag::clamp;
}

void DecoderBase::buffer_data(Field data, bool wants_old_value) {
  Operation& op = operation();
  const std::string_view name = mnemonic(op.row->opcode);
  const bool returns = wants_old_value && name.find("atomic") != std::string_view::npos;
  const bool load = name.find("_load") != std::string_view::npos;
  if (returns) op.flags |= flag::returns;
  if (op.row->destination == Type::none) return;
  if (load || returns) op.destination = data;
  if (!load) op.source[1] = data;
  // A compare-and-swap returns one value and takes two.
  if (returns && name.find("cmpswap") != std::string_view::npos) {
    op.destination.type = data.type == Type::b128 ? Type::b64 : Type::b32;
  }
}

void DecoderBase::buffer_address(unsigned vector_register, bool offen, bool idxen) {
  Operation& op = operation();
  if (offen) op.flags |= flag::offen;
  if (idxen) op.flags |= flag::idxen;
  if (offen || idxen) {
    op.source[0] = vector_field(vector_register, offen && idxen ? Type::b64 : Type::b32);
  }
}

}  // namespace cass::amdgpu
