// gfx12: RDNA4's formats of memory (RDNA4 ISA, chapter 15). Those of vector memory are 96 bits long
// and have an offset of 24 bits, temporal hints and a scope.
#include "decoder_rdna.hpp"

namespace cass::amdgpu {
namespace {

constexpr unsigned scope_device = 2;

class Decoder : public RdnaDecoder {
 public:
  explicit Decoder(std::span<const std::uint32_t> words)
      : RdnaDecoder(InstructionSet::gfx12, words), third_(words.size() > 2 ? words[2] : 0) {}

  std::optional<Decoded> run() { return checked(dispatch()); }

 private:
  bool memory_format() override;
  bool smem();
  bool flat();
  bool buffer();
  bool image(bool samples);

  // Of the third word: the address's registers, and the offset.
  unsigned address_register() const { return bits(third_, 0, 8); }
  std::int64_t offset() const { return sign_extend(bits(third_, 8, 24), 24); }
  // Atomics: whether the old value is wanted (the lowest bit of the temporal hint).
  bool wants_old_value() const { return bits(word_, 52, 1) != 0; }

  std::uint32_t third_;
};

bool Decoder::memory_format() {
  switch (static_cast<std::uint32_t>(word_) >> 26) {
    case 0b110001: return buffer();
    case 0b110100: return image(false);
    case 0b111001: return image(true);
    case 0b111011: return flat();
    case 0b111101: return smem();
    default: return false;
  }
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
  flat_operands({.destination = bits(word_, 32, 8),
                 .address = address_register(),
                 .data = bits(word_, 55, 8),
                 .base = bits(word_, 0, 7),
                 .has_scratch_address = bits(word_, 49, 1) != 0,
                 .wants_old_value = wants_old_value()});
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
  buffer_data(vector_field(bits(word_, 32, 8), op.row->destination), wants_old_value());
  buffer_address(address_register(), bits(word_, 62, 1) != 0, bits(word_, 63, 1) != 0);
  op.source[2] = scalar_field(bits(word_, 41, 9), Type::b128);
  op.source[3] = scalar_field(bits(word_, 0, 7), Type::b32);
  op.immediate = bits(third_, 8, 24);
  if (typed) op.immediate |= std::int64_t{bits(word_, 55, 7)} << 32;
  return true;
}

// VIMAGE and VSAMPLE: each address has a register of its own; of VSAMPLE's the fourth and those
// behind it follow one another.
bool Decoder::image(bool samples) {
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
  image_operands(fields, {.data = bits(word_, 32, 8),
                          .address = address_register(),
                          .resource = bits(word_, 41, 9),
                          .sampler = bits(word_, 55, 9)});
  return true;
}

}  // namespace

std::optional<Decoded> decode_gfx12(std::span<const std::uint32_t> words) {
  return Decoder(words).run();
}

}  // namespace cass::amdgpu
