// gfx11: RDNA3's formats of memory (RDNA3 ISA, chapter 15).
#include <bit>

#include "decoder_rdna.hpp"
#include "image.hpp"

namespace cass::rdna3 {
namespace {

class Decoder : public RdnaDecoder {
 public:
  explicit Decoder(std::span<const std::uint32_t> words)
      : RdnaDecoder(InstructionSet::gfx11, words) {}

  std::optional<Decoded> run() { return checked(dispatch()); }

 private:
  bool dispatch();
  bool smem();
  bool flat();
  bool buffer(Encoding encoding, unsigned number);
  bool image(unsigned number);
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
        return has_words(2) && only_named(Encoding::VINTERP, bits(word, 16, 7));
      if (word >> 24 == 0b11001110) return only_named(Encoding::LDSDIR, bits(word, 20, 2));
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
    case 0b111110: return has_words(2) && only_named(Encoding::EXP, 0);
    default: return false;
  }
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
  const bool has_base = segment != 0 && base != source_code::null;
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
  ImageFields fields;
  fields.mask = static_cast<std::uint8_t>(bits(word_, 8, 4));
  fields.dimension = static_cast<std::uint8_t>(bits(word_, 2, 3));
  fields.other_resource =
      bits(word_, 15, 1) != 0 || bits(word_, 53, 1) != 0 || bits(word_, 54, 1) != 0;
  fields.unnormalized = bits(word_, 7, 1) != 0;
  fields.short_addresses = bits(word_, 16, 1) != 0;
  fields.short_data = bits(word_, 17, 1) != 0;
  fields.separate = bits(word_, 0, 1) != 0;
  for (unsigned k = 0; fields.separate && k < 4; ++k) {
    fields.registers[k] = static_cast<std::uint8_t>(words_[2] >> 8 * k);
  }
  const ImageControl control = image_control(op.row->opcode, fields);
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

}  // namespace

std::optional<Decoded> decode_gfx11(std::span<const std::uint32_t> words) {
  return Decoder(words).run();
}

}  // namespace cass::rdna3
