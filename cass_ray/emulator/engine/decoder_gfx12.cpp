// gfx12: RDNA4's formats of memory (RDNA4 ISA, chapter 15). Those of vector memory are 96 bits long
// and have an offset of 24 bits, temporal hints and a scope.
#include <bit>

#include "decoder_rdna.hpp"
#include "image.hpp"

namespace cass::rdna3 {
namespace {

constexpr unsigned scope_device = 2;

class Decoder : public RdnaDecoder {
 public:
  explicit Decoder(std::span<const std::uint32_t> words)
      : RdnaDecoder(InstructionSet::gfx12, words),
        third_(words.size() > 2 ? words[2] : 0) {}

  std::optional<Decoded> run() { return checked(dispatch()); }

 private:
  bool dispatch();
  bool smem();
  bool flat();
  bool buffer();
  bool image(bool samples);
  void byte_selects();

  // Of the third word: the address's registers, and the offset.
  unsigned address_register() const { return bits(third_, 0, 8); }
  std::int64_t offset() const { return sign_extend(bits(third_, 8, 24), 24); }
  // Atomics: whether the old value is wanted (the lowest bit of the temporal hint).
  bool wants_old_value() const { return bits(word_, 52, 1) != 0; }

  std::uint32_t third_;
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
    case 0b110001: return buffer();
    case 0b110010: return vopd();
    case 0b110011:
      if (word >> 24 == 0b11001100) return vop3p();
      if (word >> 24 == 0b11001101) {
        return has_words(2) && only_named(Encoding::VINTERP, bits(word, 16, 7));
      }
      if (word >> 24 == 0b11001110) return only_named(Encoding::LDSDIR, bits(word, 20, 2));
      return false;
    case 0b110100: return image(false);
    case 0b110101: {
      if (!vop3()) return false;
      byte_selects();
      return true;
    }
    case 0b110110: return ds();
    case 0b111001: return image(true);
    case 0b111011: return flat();
    case 0b111101: return smem();
    case 0b111110: return has_words(2) && only_named(Encoding::EXP, 0);
    default: return false;
  }
}

// What op_sel means to conversions from bytes: which of the four, its bits in the order 1, 0.
void Decoder::byte_selects() {
  Operation& op = operation();
  if (op.row->opcode != Opcode::v_cvt_f32_fp8_ocp && op.row->opcode != Opcode::v_cvt_f32_bf8_ocp) {
    return;
  }
  op.immediate = bits(word_, 12, 1) | bits(word_, 11, 1) << 1;
}

bool Decoder::smem() {
  Operation& op = operation();
  if (!has_words(2) || !find(Encoding::SMEM, bits(word_, 13, 6))) return false;
  const bool buffer = mnemonic(op.row->opcode).starts_with("s_buffer");
  if (op.row->destination != Type::none) {
    op.destination = scalar_field(bits(word_, 6, 7), op.row->destination);
    op.source[0] = scalar_field(bits(word_, 0, 6) * 2, buffer ? Type::b128 : Type::b64);
    op.source[1] = scalar_field(bits(word_, 57, 7), Type::b32);
    op.immediate = sign_extend(bits(word_, 32, 24), 24);
  }
  return true;
}

bool Decoder::flat() {
  Operation& op = operation();
  constexpr Encoding by_segment[] = {Encoding::FLAT, Encoding::SCRATCH, Encoding::GLOBAL};
  const unsigned segment = bits(word_, 24, 2);
  if (!has_words(3) || segment == 3 || !find(by_segment[segment], bits(word_, 14, 8))) return false;
  const OpcodeRow& opcode = *op.row;
  if (opcode.opcode == Opcode::global_inv) {
    // Narrower ones concern caches that the waves of a workgroup share.
    if (bits(word_, 50, 2) >= scope_device) op.flags |= flag::device_scope;
    return true;
  }
  if (is_ignorable(opcode.opcode)) return true;
  const bool atomic = mnemonic(opcode.opcode).find("atomic") != std::string_view::npos;
  const bool returns = !atomic || wants_old_value();
  if (opcode.destination != Type::none && returns) {
    op.destination = vector_field(bits(word_, 32, 8), opcode.destination);
  }
  if (atomic && returns) op.flags |= flag::returns;
  const unsigned base = bits(word_, 0, 7);
  const bool has_base = segment != 0 && base != source_code::null;
  if (has_base) op.source[3] = scalar_field(base, segment == 1 ? Type::b32 : Type::b64);
  const bool uses_address = segment != 1 || bits(word_, 49, 1) != 0;
  if (opcode.source[0] != Type::none && uses_address) {
    const bool narrow = segment == 1 || (segment == 2 && has_base);
    op.source[0] = vector_field(address_register(), narrow ? Type::b32 : Type::b64);
  }
  if (opcode.source[1] != Type::none) {
    op.source[1] = vector_field(bits(word_, 55, 8), opcode.source[1]);
  }
  op.immediate = offset();
  return true;
}

bool Decoder::buffer() {
  Operation& op = operation();
  constexpr unsigned first_typed = 128;
  const unsigned number = bits(word_, 14, 8);
  const bool typed = number >= first_typed;
  if (!has_words(3)) return false;
  if (!find(typed ? Encoding::MTBUF : Encoding::MUBUF, typed ? number - first_typed : number)) {
    return false;
  }
  if (bits(word_, 22, 1) != 0) return false;  // TFE: partially resident textures
  const std::string_view name = mnemonic(op.row->opcode);
  const bool atomic = name.find("atomic") != std::string_view::npos;
  const bool load = name.find("_load") != std::string_view::npos;
  const bool returns = wants_old_value();
  if (atomic && returns) op.flags |= flag::returns;
  const bool offen = bits(word_, 62, 1) != 0;
  const bool idxen = bits(word_, 63, 1) != 0;
  if (offen) op.flags |= flag::offen;
  if (idxen) op.flags |= flag::idxen;
  const Field data = vector_field(bits(word_, 32, 8), op.row->destination);
  if (op.row->destination != Type::none) {
    if (load || (atomic && returns)) op.destination = data;
    if (!load) op.source[1] = data;
    // A compare-and-swap returns one value and takes two.
    if (atomic && returns && name.find("cmpswap") != std::string_view::npos) {
      op.destination.type = data.type == Type::b128 ? Type::b64 : Type::b32;
    }
  }
  if (offen || idxen) {
    op.source[0] = vector_field(address_register(), offen && idxen ? Type::b64 : Type::b32);
  }
  op.source[2] = scalar_field(bits(word_, 41, 9), Type::b128);
  op.source[3] = scalar_field(bits(word_, 0, 7), Type::b32);
  op.immediate = bits(third_, 8, 24);
  if (typed) op.immediate |= std::int64_t{bits(word_, 55, 7)} << 32;
  return true;
}

// VIMAGE and VSAMPLE: each address has a register of its own; of VSAMPLE's the fourth and those
// behind it follow one another.
bool Decoder::image(bool samples) {
  Operation& op = operation();
  constexpr unsigned first_sampling = 256;
  const unsigned number = bits(word_, 14, 8) + (samples ? first_sampling : 0);
  if (!has_words(3) || !find(Encoding::MIMG, number)) return false;
  ImageFields fields;
  fields.mask = static_cast<std::uint8_t>(bits(word_, 22, 4));
  fields.dimension = static_cast<std::uint8_t>(bits(word_, 0, 3));
  fields.other_resource = bits(word_, 4, 1) != 0 || bits(word_, samples ? 3 : 55, 1) != 0 ||
                          (samples && bits(word_, 40, 1) != 0);
  fields.unnormalized = samples && bits(word_, 13, 1) != 0;
  fields.short_addresses = bits(word_, 6, 1) != 0;
  fields.short_data = bits(word_, 5, 1) != 0;
  fields.separate = true;
  for (unsigned k = 0; k < 3; ++k) {
    fields.registers[k] = static_cast<std::uint8_t>(bits(third_, 8 * (k + 1), 8));
  }
  fields.registers[3] = samples ? static_cast<std::uint8_t>(fields.registers[2] + 1)
                                : static_cast<std::uint8_t>(bits(word_, 56, 8));
  const ImageControl control = image_control(op.row->opcode, fields);
  op.immediate = std::bit_cast<std::int64_t>(control);
  const bool stores = control.kind == ImageKind::store || control.kind == ImageKind::store_mip;
  const Field data = vector_field(bits(word_, 32, 8), raw_type(data_registers(control)));
  (stores ? op.source[1] : op.destination) = data;
  op.source[0] = vector_field(address_register(), Type::b32);
  op.source[2] = scalar_field(bits(word_, 41, 9), Type::b256);
  if (control.kind == ImageKind::sample || control.kind == ImageKind::gather) {
    op.source[3] = scalar_field(bits(word_, 55, 9), Type::b128);
  }
  return true;
}

}  // namespace

std::optional<Decoded> decode_gfx12(std::span<const std::uint32_t> words) {
  return Decoder(words).run();
}

}  // namespace cass::rdna3
