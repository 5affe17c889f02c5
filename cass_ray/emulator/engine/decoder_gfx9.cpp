// gfx90a, gfx942 and gfx950: CDNA's formats (MI300 ISA and CDNA4 ISA, chapter 13).
#include "decoder_base.hpp"

namespace cass::amdgpu {
namespace {

namespace code = source_code;

constexpr unsigned m0_of_gfx9 = 124;
constexpr unsigned no_scalar_address = 0x7F;

// 16-bit results that leave the other half of the register; the others clear it.
bool preserves_high_half(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_cvt_pk_fp8_f32:
    case Opcode::v_cvt_pk_bf8_f32:
    case Opcode::v_cvt_pk_fp8_f32_gfx950:
    case Opcode::v_cvt_pk_bf8_f32_gfx950:
    case Opcode::v_cvt_scalef32_f16_fp8:
    case Opcode::v_cvt_scalef32_f16_bf8: return true;
    default: return false;
  }
}

class Decoder : public DecoderBase {
 public:
  using DecoderBase::DecoderBase;

  std::optional<Decoded> run() {
    if (!dispatch()) return std::nullopt;
    Operation& op = operation();
    if (!rename(op.destination)) return std::nullopt;
    for (Field& field : op.source) {
      if (!rename(field)) return std::nullopt;
    }
    if (names_nothing(op)) return std::nullopt;
    return decoded_;
  }

 private:
  // M0 has another number than on gfx11, where gfx9 has nothing. False for that.
  static bool rename(Field& field) {
    if (!field.present()) return true;
    if (field.code == code::m0) return false;
    if (field.code == m0_of_gfx9) field.code = code::m0;
    return true;
  }

  static Field accumulator_field(unsigned number, Type type) {
    return {static_cast<std::uint16_t>(code::accumulator_first + number), type, 0};
  }
  // A VGPR, or an accumulation register where the instruction's ACC bit says so.
  static Field data_field(unsigned number, Type type, bool accumulator) {
    return accumulator ? accumulator_field(number, type) : vector_field(number, type);
  }

  bool is_cmpx() { return mnemonic(operation().row->opcode).starts_with("v_cmpx"); }

  // 16-bit results.
  void set_rest_of_destination() {
    Operation& op = operation();
    const bool half = is_16_bit(op.destination.type) && op.destination.code >= code::vector_first;
    if (half && (op.destination.modifiers & modifier::high) == 0 &&
        !preserves_high_half(op.row->opcode)) {
      op.destination.modifiers |= modifier::clears_high;
    }
  }

  bool dispatch();
  bool smem();
  bool vop1();
  bool vop2();
  bool vopc();
  bool vop3();
  bool vop3p();
  bool matrix();
  bool ds();
  bool flat();
  bool buffer(Encoding encoding, unsigned number);
  bool take_modifying_word();
  bool take_dpp();
  bool take_sdwa();
  bool mask_destination(unsigned number);
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
    case 0b110000: return smem();
    case 0b110100: return word >> 23 == 0b110100111 ? vop3p() : vop3();
    case 0b110110: return ds();
    case 0b110111: return flat();
    case 0b111000: return buffer(Encoding::MUBUF, bits(word, 18, 7));
    case 0b111010: return buffer(Encoding::MTBUF, bits(word, 15, 4));
    default: return false;
  }
}

// The offset: 21 bits of the instruction (IMM), a register that these bits name, or both with the
// register in the last byte (SOFFSET_EN).
bool Decoder::smem() {
  Operation& op = operation();
  if (!has_words(2) || !find(Encoding::SMEM, bits(word_, 18, 8))) return false;
  if (op.row->destination == Type::none) return true;
  const bool buffer = mnemonic(op.row->opcode).starts_with("s_buffer");
  op.destination = scalar_field(bits(word_, 6, 7), op.row->destination);
  const bool clock = op.row->opcode == Opcode::s_memtime || op.row->opcode == Opcode::s_memrealtime;
  if (clock) return true;
  op.source[0] = scalar_field(bits(word_, 0, 6) * 2, buffer ? Type::b128 : Type::b64);
  const bool has_constant = bits(word_, 17, 1) != 0, has_register = bits(word_, 14, 1) != 0;
  if (has_constant) op.immediate = sign_extend(bits(word_, 32, 21), 21);
  if (has_register) {
    op.source[1] = scalar_field(bits(word_, 57, 7), Type::b32);
  } else if (!has_constant) {
    op.source[1] = scalar_field(bits(word_, 32, 7), Type::b32);
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
  if (std::string_view(op.row->name) == "v_accvgpr_mov_b32") {
    op.destination = accumulator_field(target, type);
    if (bits(word_, 8, 1) == 0) return false;
    op.source[0] = accumulator_field(bits(word_, 0, 8), op.row->source[0]);
  }
  set_rest_of_destination();
  return take_modifying_word() && take_literal_if_used();
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
    case Opcode::v_madmk_f32:
    case Opcode::v_madmk_f16:
      op.source[2] = op.source[1];
      op.source[1] = literal;
      break;
    case Opcode::v_fmaak_f32:
    case Opcode::v_madak_f32:
    case Opcode::v_madak_f16: op.source[2] = literal; break;
    default:
      if (op.row->source[2] == Type::mask) op.source[2] = scalar_field(code::vcc_lo, Type::mask);
      break;
  }
  switch (op.row->opcode) {
    case Opcode::v_add_co_u32:
    case Opcode::v_sub_co_u32:
    case Opcode::v_subrev_co_u32:
    case Opcode::v_add_co_ci_u32:
    case Opcode::v_sub_co_ci_u32:
    case Opcode::v_subrev_co_ci_u32:
      op.scalar_destination = scalar_field(code::vcc_lo, Type::mask);
      break;
    default: break;
  }
  set_rest_of_destination();
  return take_modifying_word() && take_literal_if_used();
}

// v_cmpx writes EXEC, and the mask to the destination as v_cmp does.
bool Decoder::mask_destination(unsigned number) {
  const Field mask = scalar_field(number, Type::mask);
  operation().destination = mask;
  if (is_cmpx()) {
    operation().destination.code = code::exec_lo;
    decoded_.also_written = mask;
  }
  return true;
}

bool Decoder::vopc() {
  Operation& op = operation();
  if (!find(Encoding::VOPC, bits(word_, 17, 8))) return false;
  mask_destination(code::vcc_lo);
  op.source[0] = {static_cast<std::uint16_t>(bits(word_, 0, 9)), op.row->source[0], 0};
  op.source[1] = vector_field(bits(word_, 9, 8), op.row->source[1]);
  return take_modifying_word() && take_literal_if_used();
}

// A dword behind VOP1, VOP2 and VOPC, named by source 0.
bool Decoder::take_modifying_word() {
  const Field& source = operation().source[0];
  if (!source.present()) return true;
  if (source.code == code::dpp16) return take_dpp();
  if (source.code == code::sdwa) return take_sdwa();
  return true;
}

bool Decoder::take_dpp() {
  const auto word = take_word();
  if (!word) return false;
  Operation& op = operation();
  DppControl dpp;
  dpp.control = bits(*word, 8, 9);
  dpp.bound_control = bits(*word, 19, 1) != 0;
  dpp.bank_mask = static_cast<std::uint8_t>(bits(*word, 24, 4));
  dpp.row_mask = static_cast<std::uint8_t>(bits(*word, 28, 4));
  op.source[0].code = static_cast<std::uint16_t>(code::vector_first + bits(*word, 0, 8));
  op.source[0].modifiers |= static_cast<std::uint8_t>(bits(*word, 20, 2));
  if (op.source[1].present()) {
    op.source[1].modifiers |= static_cast<std::uint8_t>(bits(*word, 22, 2));
  }
  decoded_.dpp = dpp;
  return true;
}

bool Decoder::take_sdwa() {
  const auto taken = take_word();
  if (!taken) return false;
  const std::uint32_t word = *taken;
  Operation& op = operation();
  SubDwordControl sdwa;
  const auto source = [&](unsigned n, unsigned number, unsigned low) {
    Field& field = op.source[n];
    const bool scalar = bits(word, low + 7, 1) != 0;
    field.code = static_cast<std::uint16_t>(number + (scalar ? 0 : code::vector_first));
    sdwa.source[n] = static_cast<SubDword>(bits(word, low, 3));
    sdwa.extends_sign[n] = bits(word, low + 3, 1) != 0;
    field.modifiers |= static_cast<std::uint8_t>(bits(word, low + 4, 2));
  };
  source(0, bits(word, 0, 8), 16);
  if (op.source[1].present()) source(1, op.source[1].code - code::vector_first, 24);
  const bool reserved = bits(word, 16, 3) == 7 || bits(word, 24, 3) == 7;
  if (op.row->encoding == Encoding::VOPC) {
    const bool named = bits(word, 15, 1) != 0;
    mask_destination(named ? bits(word, 8, 7) : code::vcc_lo);
    decoded_.sdwa = sdwa;
    return !reserved;
  }
  sdwa.destination = static_cast<SubDword>(bits(word, 8, 3));
  sdwa.rest = static_cast<RestOfDword>(bits(word, 11, 2));
  if (bits(word, 13, 1) != 0) op.flags |= flag::clamp;
  op.output_scale = static_cast<std::uint8_t>(bits(word, 14, 2));
  decoded_.sdwa = sdwa;
  return !reserved && bits(word, 8, 3) != 7 && bits(word, 11, 2) != 3;
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
    mask_destination(target);
  } else {
    op.destination = type == Type::s32 ? scalar_field(target, type) : vector_field(target, type);
  }
  vop3_operands(carries);
  const bool rounds_to_byte =
      op.row->opcode == Opcode::v_cvt_sr_fp8_f32 || op.row->opcode == Opcode::v_cvt_sr_bf8_f32;
  if (rounds_to_byte) op.immediate = bits(word_, 13, 2);  // which byte of the destination
  if (op.row->opcode == Opcode::v_bitop3_b32 || op.row->opcode == Opcode::v_bitop3_b16) {
    // The truth table is where other instructions have modifiers: OMOD, ABS and NEG.
    op.immediate = bits(word_, 59, 2) << 6 | bits(word_, 8, 3) << 3 | bits(word_, 61, 3);
    op.output_scale = 0;
  }
  if (std::string_view(op.row->name).starts_with("v_cvt_scalef32")) {
    op.immediate = bits(word_, 11, 4);  // OPSEL: bytes and halves of operands
  }
  set_rest_of_destination();
  return true;
}

bool Decoder::vop3p() {
  Operation& op = operation();
  if (!has_words(2) || !find(Encoding::VOP3P, bits(word_, 16, 7))) return false;
  const std::string_view name = op.row->name;
  if (name.starts_with("v_mfma") || name.starts_with("v_smfmac")) return matrix();
  const unsigned target = bits(word_, 0, 8);
  if (name.starts_with("v_accvgpr")) {
    const bool writes = name == "v_accvgpr_write_b32";
    const unsigned source = bits(word_, 32, 9);
    op.destination = data_field(target, op.row->destination, writes);
    op.source[0] = {static_cast<std::uint16_t>(source), op.row->source[0], 0};
    if (!writes) op.source[0] = accumulator_field(source & 0xFF, op.row->source[0]);
    return true;
  }
  op.destination = vector_field(target, op.row->destination);
  packed_operands();
  return true;
}

// CBSZ, ABID and BLGP broadcast or permute blocks of A and B, or negate f64 sources.
bool Decoder::matrix() {
  Operation& op = operation();
  const bool accumulates = bits(word_, 15, 1) != 0;  // ACC_CD: C and D
  op.destination = data_field(bits(word_, 0, 8), op.row->destination, accumulates);
  for (unsigned i = 0; i < 2; ++i) {
    const bool accumulator = bits(word_, 59 + i, 1) != 0;
    op.source[i] = data_field(bits(word_, 32 + 9 * i, 8), op.row->source[i], accumulator);
    if (bits(word_, 40 + 9 * i, 1) == 0) return false;  // no scalar or constant matrices
  }
  const unsigned third = bits(word_, 50, 9);
  const bool sparse = std::string_view(op.row->name).starts_with("v_smfmac");
  op.source[2] = {static_cast<std::uint16_t>(third), op.row->source[2], 0};
  if (third >= code::vector_first) {
    // The third source of a sparse product says where A's elements belong: always a VGPR.
    const bool accumulator = accumulates && !sparse;
    op.source[2] = data_field(third & 0xFF, op.row->source[2], accumulator);
  }
  op.immediate = bits(word_, 8, 3) | bits(word_, 11, 4) << 4 | bits(word_, 61, 3) << 8;
  return true;
}

bool Decoder::ds() {
  Operation& op = operation();
  if (!has_words(2) || !find(Encoding::DS, bits(word_, 17, 8))) return false;
  const OpcodeRow& opcode = *op.row;
  const bool accumulator = bits(word_, 25, 1) != 0;
  if (opcode.destination != Type::none)
    op.destination = data_field(bits(word_, 56, 8), opcode.destination, accumulator);
  if (opcode.source[0] != Type::none)
    op.source[0] = vector_field(bits(word_, 32, 8), opcode.source[0]);
  if (opcode.source[1] != Type::none)
    op.source[1] = data_field(bits(word_, 40, 8), opcode.source[1], accumulator);
  if (opcode.source[2] != Type::none)
    op.source[2] = data_field(bits(word_, 48, 8), opcode.source[2], accumulator);
  // ds_cmpst has the value to compare with first, gfx11's ds_cmpstore last.
  if (std::string_view(opcode.name).starts_with("ds_cmpst_")) std::swap(op.source[1], op.source[2]);
  op.immediate = bits(word_, 0, 16);
  if (bits(word_, 16, 1) != 0) op.flags |= flag::gds;
  if (opcode.destination != Type::none) op.flags |= flag::returns;
  return true;
}

bool Decoder::flat() {
  Operation& op = operation();
  constexpr Encoding by_segment[] = {Encoding::FLAT, Encoding::SCRATCH, Encoding::GLOBAL};
  const unsigned segment = bits(word_, 14, 2);
  if (!has_words(2) || segment == 3 || !find(by_segment[segment], bits(word_, 18, 7))) return false;
  const OpcodeRow& opcode = *op.row;
  const bool atomic = mnemonic(opcode.opcode).find("atomic") != std::string_view::npos;
  const bool returns = !atomic || bits(word_, 16, 1) != 0;
  const bool accumulator = bits(word_, 55, 1) != 0;
  const bool gfx90a = decoded_.set == InstructionSet::gfx90a;
  if (opcode.destination != Type::none && returns) {
    op.destination = data_field(bits(word_, 56, 8), opcode.destination, accumulator);
  }
  if (atomic && returns) op.flags |= flag::returns;
  const unsigned base = bits(word_, 48, 7);
  const bool has_base = segment != 0 && base != no_scalar_address;
  if (has_base) op.source[3] = scalar_field(base, segment == 1 ? Type::b32 : Type::b64);
  // Bit 13: scratch has a VGPR in its address; on gfx90a the load goes to LDS.
  const bool bit_13 = bits(word_, 13, 1) != 0;
  if (gfx90a && bit_13) return false;
  const bool uses_address = segment != 1 || (gfx90a ? !has_base : bit_13);
  if (opcode.source[0] != Type::none && uses_address) {
    const bool narrow = segment == 1 || (segment == 2 && has_base);
    op.source[0] = vector_field(bits(word_, 32, 8), narrow ? Type::b32 : Type::b64);
  }
  if (opcode.source[1] != Type::none)
    op.source[1] = data_field(bits(word_, 40, 8), opcode.source[1], accumulator);
  op.immediate =
      segment == 0 ? std::int64_t{bits(word_, 0, 12)} : sign_extend(bits(word_, 0, 13), 13);
  return true;
}

bool Decoder::buffer(Encoding encoding, unsigned number) {
  Operation& op = operation();
  if (!has_words(2) || !find(encoding, number)) return false;
  if (is_ignorable(op.row->opcode)) return true;
  if (encoding == Encoding::MUBUF && bits(word_, 16, 1) != 0) op.flags |= flag::lds;
  const bool accumulator = bits(word_, 55, 1) != 0;
  buffer_data(data_field(bits(word_, 40, 8), op.row->destination, accumulator),
              bits(word_, 14, 1) != 0);
  buffer_address(bits(word_, 32, 8), bits(word_, 12, 1) != 0, bits(word_, 13, 1) != 0);
  op.source[2] = scalar_field(bits(word_, 48, 5) * 4, Type::b128);
  op.source[3] = scalar_field(bits(word_, 56, 8), Type::b32);
  op.immediate = bits(word_, 0, 12);
  // The data format comes in two fields, DFMT and NFMT; gfx11 has one list of both.
  if (encoding == Encoding::MTBUF) op.immediate |= std::int64_t{bits(word_, 19, 7)} << 32;
  return take_literal_if_used();
}

}  // namespace

std::optional<Decoded> decode_gfx9(InstructionSet set, std::span<const std::uint32_t> words) {
  return Decoder(set, words).run();
}

}  // namespace cass::amdgpu
