// gfx11: RDNA3's formats of memory (RDNA3 ISA, chapter 15).
#include "decoder_rdna.hpp"

namespace cass::amdgpu {
namespace {

class Decoder : public RdnaDecoder {
 public:
  explicit Decoder(std::span<const std::uint32_t> words)
      : RdnaDecoder(InstructionSet::gfx11, words) {}

  std::optional<Decoded> run() { return checked(dispatch()); }

 private:
  bool memory_format() override;
  bool smem();
  bool flat();
  bool buffer(Encoding encoding, unsigned number);
  bool image(unsigned number);
};

bool Decoder::memory_format() {
  const auto word = static_cast<std::uint32_t>(word_);
  switch (word >> 26) {
    case 0b110111: return flat();
    case 0b111000: return buffer(Encoding::MUBUF, bits(word, 18, 8));
    case 0b111010: return buffer(Encoding::MTBUF, bits(word, 15, 4));
    case 0b111100: {
      const unsigned extra = bits(word, 0, 1);  // NSA: one more dword of addresses
      return has_words(2 + extra) && image(bits(word, 18, 8));
    }
    case 0b111101: return smem();
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
  flat_operands({.destination = bits(word_, 56, 8),
                 .address = bits(word_, 32, 8),
                 .data = bits(word_, 40, 8),
                 .base = bits(word_, 48, 7),
                 .has_scratch_address = bits(word_, 55, 1) != 0,
                 .wants_old_value = bits(word_, 14, 1) != 0});
  op.immediate = sign_extend(bits(word_, 0, 13), 13);
  return true;
}

bool Decoder::buffer(Encoding encoding, unsigned number) {
  Operation& op = operation();
  if (!has_words(2) || !find(encoding, number)) return false;
  if (is_ignorable(op.row->opcode)) return true;
  if (bits(word_, 53, 1) != 0) return false;  // TFE: partially resident textures
  buffer_data(vector_field(bits(word_, 40, 8), op.row->destination), bits(word_, 14, 1) != 0);
  buffer_address(bits(word_, 32, 8), bits(word_, 54, 1) != 0, bits(word_, 55, 1) != 0);
  op.source[2] = scalar_field(bits(word_, 48, 5) * 4, Type::b128);
  op.source[3] = scalar_field(bits(word_, 56, 8), Type::b32);
  op.immediate = bits(word_, 0, 12);
  if (encoding == Encoding::MTBUF) op.immediate |= std::int64_t{bits(word_, 19, 7)} << 32;
  return take_literal_if_used();
}

bool Decoder::image(unsigned number) {
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
  image_operands(fields, {.data = bits(word_, 40, 8),
                          .address = bits(word_, 32, 8),
                          .resource = bits(word_, 48, 5) * 4,
                          .sampler = bits(word_, 58, 5) * 4});
  return true;
}

}  // namespace

std::optional<Decoded> decode_gfx11(std::span<const std::uint32_t> words) {
  return Decoder(words).run();
}

}  // namespace cass::amdgpu
