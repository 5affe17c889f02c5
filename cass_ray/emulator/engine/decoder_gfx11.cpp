// gfx11: RDNA3's formats (RDNA3 ISA, chapter 15).
#include <bit>

#include "decoder_base.hpp"
#include "image.hpp"

namespace cass::rdna3 {
namespace {

namespace code = source_code;

class Decoder : public DecoderBase {
 public:
  explicit Decoder(std::span<const std::uint32_t> words)
      : DecoderBase(InstructionSet::gfx11, words) {}

  std::optional<Decoded> run() {
    if (!dispatch() || names_nothing(operation())) return std::nullopt;
    if (decoded_.second && names_nothing(*decoded_.second)) return std::nullopt;
    return decoded_;
  }

 private:
  // Source 0 may name a DPP dword instead of a register.
  bool take_dpp_if_used() {
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
    split_half(source, false);
    decoded_.dpp = dpp;
    return true;
  }

  bool dispatch();
  bool scalar_format();
  bool sopk();
  bool smem();
  bool vop1();
  bool vop2();
  bool vopc();
  bool vop3();
  bool vop3p();
  bool vopd();
  Operation vopd_part(const OpcodeRow& row, unsigned source0, unsigned source1, unsigned target);
  bool ds();
  bool flat();
  bool buffer(Encoding encoding, unsigned number);
  bool image(unsigned number);
  bool other(Encoding encoding, unsigned number);

  // In VOP1, VOP2, VOPC a 16-bit VGPR operand is v0..v127, bit 7 selects its high half.
  void split_half(Field& field, bool is_vop3) {
    if (is_vop3 || !is_16_bit(field.type) || field.code < code::vector_first) return;
    if ((field.code & 0x80) != 0) {
      field.code &= static_cast<std::uint16_t>(~0x80U);
      field.modifiers |= modifier::high;
    }
  }
};

bool Decoder::dispatch() {
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
      if (word >> 24 == 0b11001101)
        return has_words(2) && other(Encoding::VINTERP, bits(word, 16, 7));
      if (word >> 24 == 0b11001110) return other(Encoding::LDSDIR, bits(word, 20, 2));
      return false;
    case 0b110101: return vop3();
    case 0b110110: return ds();
    case 0b110111: return flat();
    case 0b111000: return buffer(Encoding::MUBUF, bits(word, 18, 8));
    case 0b111010: return buffer(Encoding::MTBUF, bits(word, 15, 4));
    case 0b111100: {
      const unsigned extra = bits(word, 0, 1);  // NSA: one more dword of addresses
      return has_words(2 + extra) && image(bits(word, 18, 8));
    }
    case 0b111101: return smem();
    case 0b111110: return has_words(2) && other(Encoding::EXP, 0);
    default: return false;
  }
}

bool Decoder::scalar_format() {
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
    op.source[1] = scalar_field(bits(word, 8, 8), op.row->source[1]);
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
  return take_literal_if_used();
}

bool Decoder::sopk() {
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

bool Decoder::smem() {
  Operation& op = operation();
  if (!has_words(2) || !find(Encoding::SMEM, bits(word_, 18, 8))) return false;
  const bool buffer = mnemonic(op.row->opcode).starts_with("s_buffer");
  if (op.row->destination != Type::none) {
    op.destination = scalar_field(bits(word_, 6, 7), op.row->destination);
    op.source[0] = scalar_field(bits(word_, 0, 6) * 2, buffer ? Type::b128 : Type::b64);
    op.source[1] = scalar_field(bits(word_, 57, 7), Type::b32);
    op.immediate = sign_extend(bits(word_, 32, 21), 21);
  }
  return true;
}

bool Decoder::vop1() {
  Operation& op = operation();
  if (!find(Encoding::VOP1, bits(word_, 9, 8))) return false;
  const Type type = op.row->destination;
  const unsigned target = bits(word_, 17, 8);
  op.destination = type == Type::s32 ? scalar_field(target, type) : vector_field(target, type);
  op.source[0] = {static_cast<std::uint16_t>(bits(word_, 0, 9)), op.row->source[0], 0};
  split_half(op.destination, false);
  split_half(op.source[0], false);
  return take_dpp_if_used() && take_literal_if_used();
}

bool Decoder::vop2() {
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
  split_half(op.destination, false);
  for (Field& field : op.source) split_half(field, false);
  return take_dpp_if_used() && take_literal_if_used();
}

bool Decoder::vopc() {
  Operation& op = operation();
  if (!find(Encoding::VOPC, bits(word_, 17, 8))) return false;
  const bool to_exec = mnemonic(op.row->opcode).starts_with("v_cmpx");
  op.destination = scalar_field(to_exec ? code::exec_lo : code::vcc_lo, Type::mask);
  op.source[0] = {static_cast<std::uint16_t>(bits(word_, 0, 9)), op.row->source[0], 0};
  op.source[1] = vector_field(bits(word_, 9, 8), op.row->source[1]);
  split_half(op.source[0], false);
  split_half(op.source[1], false);
  return take_dpp_if_used() && take_literal_if_used();
}

bool Decoder::vop3() {
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
  return take_dpp_if_used() && take_literal_if_used();
}

bool Decoder::vop3p() {
  Operation& op = operation();
  if (!has_words(2) || !find(Encoding::VOP3P, bits(word_, 16, 7))) return false;
  op.destination = vector_field(bits(word_, 0, 8), op.row->destination);
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
  return take_dpp_if_used() && take_literal_if_used();
}

Operation Decoder::vopd_part(const OpcodeRow& row, unsigned source0, unsigned source1,
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

bool Decoder::vopd() {
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

bool Decoder::ds() {
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

bool Decoder::flat() {
  Operation& op = operation();
  constexpr Encoding by_segment[] = {Encoding::FLAT, Encoding::SCRATCH, Encoding::GLOBAL};
  const unsigned segment = bits(word_, 16, 2);
  if (!has_words(2) || segment == 3 || !find(by_segment[segment], bits(word_, 18, 7))) return false;
  const OpcodeRow& opcode = *op.row;
  const bool atomic = mnemonic(opcode.opcode).find("atomic") != std::string_view::npos;
  const bool returns = !atomic || bits(word_, 14, 1) != 0;
  if (opcode.destination != Type::none && returns) {
    op.destination = vector_field(bits(word_, 56, 8), opcode.destination);
  }
  if (atomic && returns) op.flags |= flag::returns;
  const unsigned base = bits(word_, 48, 7);
  const bool has_base = segment != 0 && base != code::null;
  if (has_base) op.source[3] = scalar_field(base, segment == 1 ? Type::b32 : Type::b64);
  const bool uses_address = segment != 1 || bits(word_, 55, 1) != 0;
  if (opcode.source[0] != Type::none && uses_address) {
    const bool narrow = segment == 1 || (segment == 2 && has_base);
    op.source[0] = vector_field(bits(word_, 32, 8), narrow ? Type::b32 : Type::b64);
  }
  if (opcode.source[1] != Type::none) {
    op.source[1] = vector_field(bits(word_, 40, 8), opcode.source[1]);
  }
  op.immediate = sign_extend(bits(word_, 0, 13), 13);
  return true;
}

bool Decoder::buffer(Encoding encoding, unsigned number) {
  Operation& op = operation();
  if (!has_words(2) || !find(encoding, number)) return false;
  if (is_ignorable(op.row->opcode)) return true;
  if (bits(word_, 53, 1) != 0) return false;  // TFE: partially resident textures
  const std::string_view name = mnemonic(op.row->opcode);
  const bool atomic = name.find("atomic") != std::string_view::npos;
  const bool load = name.find("_load") != std::string_view::npos;
  const bool returns = bits(word_, 14, 1) != 0;
  if (atomic && returns) op.flags |= flag::returns;
  const bool offen = bits(word_, 54, 1) != 0;
  const bool idxen = bits(word_, 55, 1) != 0;
  if (offen) op.flags |= flag::offen;
  if (idxen) op.flags |= flag::idxen;
  const Field data = vector_field(bits(word_, 40, 8), op.row->destination);
  if (op.row->destination != Type::none) {
    if (load || (atomic && returns)) op.destination = data;
    if (!load) op.source[1] = data;
    // A compare-and-swap returns one value and takes two.
    if (atomic && returns && name.find("cmpswap") != std::string_view::npos) {
      op.destination.type = data.type == Type::b128 ? Type::b64 : Type::b32;
    }
  }
  if (offen || idxen) {
    op.source[0] = vector_field(bits(word_, 32, 8), offen && idxen ? Type::b64 : Type::b32);
  }
  op.source[2] = scalar_field(bits(word_, 48, 5) * 4, Type::b128);
  op.source[3] = scalar_field(bits(word_, 56, 8), Type::b32);
  op.immediate = bits(word_, 0, 12);
  if (encoding == Encoding::MTBUF) op.immediate |= std::int64_t{bits(word_, 19, 7)} << 32;
  return take_literal_if_used();
}

bool Decoder::image(unsigned number) {
  Operation& op = operation();
  if (!find(Encoding::MIMG, number)) return false;
  const ImageControl control =
      image_control(op.row->opcode, word_, words_.size() > 2 ? words_[2] : 0);
  op.immediate = std::bit_cast<std::int64_t>(control);
  const bool stores = control.kind == ImageKind::store || control.kind == ImageKind::store_mip;
  const Field data = vector_field(bits(word_, 40, 8), raw_type(data_registers(control)));
  (stores ? op.source[1] : op.destination) = data;
  const bool separate = control.has(ImageControl::separate);
  op.source[0] =
      vector_field(bits(word_, 32, 8), separate ? Type::b32 : raw_type(address_registers(control)));
  op.source[2] = scalar_field(bits(word_, 48, 5) * 4, Type::b256);
  const bool samples = control.kind == ImageKind::sample || control.kind == ImageKind::gather;
  if (samples) op.source[3] = scalar_field(bits(word_, 58, 5) * 4, Type::b128);
  return true;
}

bool Decoder::other(Encoding encoding, unsigned number) { return find(encoding, number); }

}  // namespace

std::optional<Decoded> decode_gfx11(std::span<const std::uint32_t> words) {
  return Decoder(words).run();
}

}  // namespace cass::rdna3
