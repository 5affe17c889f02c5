#include "decoder_rdna.hpp"

#include <bit>
#include <string_view>

namespace cass::amdgpu {

namespace code = source_code;

bool RdnaDecoder::dispatch() {
  const auto word = static_cast<std::uint32_t>(word_);
  if ((word >> 31) == 0) {
    if (word >> 25 == 0b0111111) return vop1();
    if (word >> 25 == 0b0111110) return vopc();
    return vop2();
  }
  if (word >> 30 == 0b10) return scalar_format();
  switch (word >> 26) {
    case 0b110010: return vopd();
    case 0b110011:
      if (word >> 24 == 0b11001100) return vop3p();
      if (word >> 24 == 0b11001101) {
        return has_words(2) && find(Encoding::VINTERP, bits(word, 16, 7));
      }
      return word >> 24 == 0b11001110 && find(Encoding::LDSDIR, bits(word, 20, 2));
    case 0b110101: return vop3();
    case 0b110110: return ds();
    case 0b111110: return has_words(2) && find(Encoding::EXP, 0);
    default: return memory_format();
  }
}

// Source 0 may name a DPP dword instead of a register.
bool RdnaDecoder::take_dpp_if_used() {
  Field& source = operation().source[0];
  if (!source.present()) return true;
  const bool eight = source.code == code::dpp8 || source.code == code::dpp8_fetch_inactive;
  if (!eight && source.code != code::dpp16) return true;
  const auto taken = take_word();
  if (!taken) return false;
  const std::uint32_t word = *taken;
  DppControl dpp;
  dpp.eight = eight;
  if (eight) {
    dpp.fetch_inactive = source.code == code::dpp8_fetch_inactive;
    dpp.control = word >> 8;
  } else {
    dpp.control = bits(word, 8, 9);
    dpp.fetch_inactive = bits(word, 18, 1) != 0;
    dpp.bound_control = bits(word, 19, 1) != 0;
    dpp.bank_mask = static_cast<std::uint8_t>(bits(word, 24, 4));
    dpp.row_mask = static_cast<std::uint8_t>(bits(word, 28, 4));
    source.modifiers |= static_cast<std::uint8_t>(bits(word, 20, 2));
    if (operation().source[1].present()) {
      operation().source[1].modifiers |= static_cast<std::uint8_t>(bits(word, 22, 2));
    }
  }
  source.code = static_cast<std::uint16_t>(code::vector_first + bits(word, 0, 8));
  split_half(source);
  decoded_.dpp = dpp;
  return true;
}

bool RdnaDecoder::vop1() {
  Operation& op = operation();
  if (!find(Encoding::VOP1, bits(word_, 9, 8))) return false;
  const Type type = op.row->destination;
  const unsigned target = bits(word_, 17, 8);
  op.destination = type == Type::s32 ? scalar_field(target, type) : vector_field(target, type);
  op.source[0] = {static_cast<std::uint16_t>(bits(word_, 0, 9)), op.row->source[0], 0};
  split_half(op.destination);
  split_half(op.source[0]);
  return take_dpp_if_used() && take_literal_if_used();
}

bool RdnaDecoder::vop2() {
  Operation& op = operation();
  if (!find(Encoding::VOP2, bits(word_, 25, 6))) return false;
  op.destination = vector_field(bits(word_, 17, 8), op.row->destination);
  op.source[0] = {static_cast<std::uint16_t>(bits(word_, 0, 9)), op.row->source[0], 0};
  op.source[1] = vector_field(bits(word_, 9, 8), op.row->source[1]);
  const Field literal = {code::literal, op.row->source[2], 0};
  switch (op.row->opcode) {
    case Opcode::v_fmamk_f32:
    case Opcode::v_fmamk_f16:
      op.source[2] = op.source[1];
      op.source[1] = literal;
      break;
    case Opcode::v_fmaak_f32:
    case Opcode::v_fmaak_f16: op.source[2] = literal; break;
    default:
      if (op.row->source[2] == Type::mask) op.source[2] = scalar_field(code::vcc_lo, Type::mask);
      break;
  }
  if (op.row->opcode == Opcode::v_add_co_ci_u32 || op.row->opcode == Opcode::v_sub_co_ci_u32 ||
      op.row->opcode == Opcode::v_subrev_co_ci_u32) {
    op.scalar_destination = scalar_field(code::vcc_lo, Type::mask);
  }
  split_half(op.destination);
  for (Field& field : op.source) split_half(field);
  return take_dpp_if_used() && take_literal_if_used();
}

bool RdnaDecoder::vopc() {
  Operation& op = operation();
  if (!find(Encoding::VOPC, bits(word_, 17, 8))) return false;
  const bool to_exec = mnemonic(op.row->opcode).starts_with("v_cmpx");
  op.destination = scalar_field(to_exec ? code::exec_lo : code::vcc_lo, Type::mask);
  op.source[0] = {static_cast<std::uint16_t>(bits(word_, 0, 9)), op.row->source[0], 0};
  op.source[1] = vector_field(bits(word_, 9, 8), op.row->source[1]);
  split_half(op.source[0]);
  split_half(op.source[1]);
  return take_dpp_if_used() && take_literal_if_used();
}

bool RdnaDecoder::vop3() {
  Operation& op = operation();
  const unsigned number = bits(word_, 16, 10);
  if (!has_words(2)) return false;
  const bool carries = row(Encoding::VOP3SD, number) != nullptr;
  if (!find(carries ? Encoding::VOP3SD : Encoding::VOP3, number)) return false;
  const Type type = op.row->destination;
  const unsigned target = bits(word_, 0, 8);
  if (type == Type::mask) {
    const bool to_exec = mnemonic(op.row->opcode).starts_with("v_cmpx");
    op.destination = scalar_field(to_exec ? code::exec_lo : target, type);
  } else {
    op.destination = type == Type::s32 ? scalar_field(target, type) : vector_field(target, type);
  }
  vop3_operands(carries);
  if (op.row->opcode == Opcode::v_cvt_f32_fp8_ocp || op.row->opcode == Opcode::v_cvt_f32_bf8_ocp) {
    // RDNA4: op_sel says which of the four bytes, its bits in the order 1, 0.
    op.immediate = bits(word_, 12, 1) | bits(word_, 11, 1) << 1;
  }
  return take_dpp_if_used() && take_literal_if_used();
}

bool RdnaDecoder::vop3p() {
  Operation& op = operation();
  const unsigned number = bits(word_, 16, 7);
  if (!has_words(2) || !find(Encoding::VOP3P, number)) return false;
  op.destination = vector_field(bits(word_, 0, 8), op.row->destination);
  packed_operands();
  if (!has_matrices_in_registers(number)) return false;
  return take_dpp_if_used() && take_literal_if_used();
}

// Matrix products read A and B in place, sparse ones what says where A's elements belong as well.
bool RdnaDecoder::has_matrices_in_registers(unsigned number) {
  constexpr unsigned first_matrix = 0x40, first_sparse = 0x50;
  if (number < first_matrix) return true;
  const unsigned count = number < first_sparse ? 2 : 3;
  for (unsigned i = 0; i < count; ++i) {
    if (operation().source[i].code < code::vector_first) return false;
  }
  return true;
}

Operation RdnaDecoder::vopd_part(const OpcodeRow& row, unsigned source0, unsigned source1,
                                 unsigned target) {
  Operation part;
  part.row = &row;
  part.destination = vector_field(target, row.destination);
  part.source[0] = {static_cast<std::uint16_t>(source0), row.source[0], 0};
  if (row.source[1] != Type::none) part.source[1] = vector_field(source1, row.source[1]);
  const Field literal = {code::literal, Type::f32, 0};
  if (row.opcode == Opcode::v_fmamk_f32) {
    part.source[2] = part.source[1];
    part.source[1] = literal;
  } else if (row.opcode == Opcode::v_fmaak_f32) {
    part.source[2] = literal;
  } else if (row.opcode == Opcode::v_cndmask_b32) {
    part.source[2] = scalar_field(code::vcc_lo, Type::mask);
  }
  return part;
}

bool RdnaDecoder::vopd() {
  if (!has_words(2)) return false;
  const OpcodeRow* first = row(Encoding::VOPDX, bits(word_, 22, 4));
  const OpcodeRow* second = row(Encoding::VOPDY, bits(word_, 17, 5));
  if (first == nullptr || second == nullptr) return false;
  const unsigned target = bits(word_, 56, 8);
  const unsigned other_target = bits(word_, 49, 7) << 1 | (~target & 1U);
  operation() = vopd_part(*first, bits(word_, 0, 9), bits(word_, 9, 8), target);
  decoded_.second = vopd_part(*second, bits(word_, 32, 9), bits(word_, 41, 8), other_target);
  return take_literal_if_used();
}

bool RdnaDecoder::ds() {
  Operation& op = operation();
  if (!has_words(2) || !find(Encoding::DS, bits(word_, 18, 8))) return false;
  const OpcodeRow& opcode = *op.row;
  if (opcode.destination != Type::none)
    op.destination = vector_field(bits(word_, 56, 8), opcode.destination);
  for (unsigned i = 0; i < 3; ++i) {
    if (opcode.source[i] == Type::none) continue;
    op.source[i] = vector_field(bits(word_, 32 + 8 * i, 8), opcode.source[i]);
  }
  op.immediate = bits(word_, 0, 16);
  if (bits(word_, 17, 1) != 0) op.flags |= flag::gds;
  if (opcode.destination != Type::none) op.flags |= flag::returns;
  return true;
}

void RdnaDecoder::flat_operands(const FlatFields& fields) {
  Operation& op = operation();
  const OpcodeRow& opcode = *op.row;
  const bool scratch = opcode.encoding == Encoding::SCRATCH;
  const bool atomic = mnemonic(opcode.opcode).find("atomic") != std::string_view::npos;
  const bool returns = !atomic || fields.wants_old_value;
  if (opcode.destination != Type::none && returns) {
    op.destination = vector_field(fields.destination, opcode.destination);
  }
  if (atomic && returns) op.flags |= flag::returns;
  const bool has_base = opcode.encoding != Encoding::FLAT && fields.base != code::null;
  if (has_base) op.source[3] = scalar_field(fields.base, scratch ? Type::b32 : Type::b64);
  if (opcode.source[0] != Type::none && (!scratch || fields.has_scratch_address)) {
    op.source[0] = vector_field(fields.address, scratch || has_base ? Type::b32 : Type::b64);
  }
  if (opcode.source[1] != Type::none) op.source[1] = vector_field(fields.data, opcode.source[1]);
}

void RdnaDecoder::image_operands(const ImageFields& fields, const ImageRegisters& registers) {
  Operation& op = operation();
  const ImageControl control = image_control(op.row->opcode, fields);
  op.immediate = std::bit_cast<std::int64_t>(control);
  const bool stores = control.kind == ImageKind::store || control.kind == ImageKind::store_mip;
  const Field data = vector_field(registers.data, raw_type(data_registers(control)));
  (stores ? op.source[1] : op.destination) = data;
  const bool separate = control.has(ImageControl::separate);
  op.source[0] =
      vector_field(registers.address, separate ? Type::b32 : raw_type(address_registers(control)));
  op.source[2] = scalar_field(registers.resource, Type::b256);
  if (control.kind == ImageKind::sample || control.kind == ImageKind::gather) {
    op.source[3] = scalar_field(registers.sampler, Type::b128);
  }
}

}  // namespace cass::amdgpu
