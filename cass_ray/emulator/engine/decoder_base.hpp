// What the decoders of all instruction sets are written with.
#pragma once

#include "decoder.hpp"

namespace cass::amdgpu {

inline std::uint32_t bits(std::uint64_t word, unsigned low, unsigned count) {
  return static_cast<std::uint32_t>(word >> low) & ((1U << count) - 1U);
}

// Operands that neg and abs apply to.
inline bool takes_sign(Type type) {
  return type == Type::f16 || type == Type::f32 || type == Type::f64 || type == Type::pk16;
}

inline std::int64_t sign_extend(std::uint32_t value, unsigned count) {
  return static_cast<std::int32_t>(value << (32 - count)) >> (32 - count);
}

inline Field scalar_field(unsigned number, Type type) {
  return {static_cast<std::uint16_t>(number), type, 0};
}

inline Field vector_field(unsigned number, Type type) {
  return {static_cast<std::uint16_t>(source_code::vector_first + number), type, 0};
}

// Operations that use source 0 as a place: it cannot be a constant or a scalar.
inline bool needs_register(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_swap_b32:
    case Opcode::v_swap_b16:
    case Opcode::v_swaprel_b32:
    case Opcode::v_permlane64_b32:
    case Opcode::v_permlane16_swap_b32:
    case Opcode::v_permlane32_swap_b32:
    case Opcode::v_movrels_b32:
    case Opcode::v_movrelsd_b32:
    case Opcode::v_movrelsd_2_b32: return true;
    default: return false;
  }
}

// A source code that is reserved, or is none that the operation can have.
inline bool names_nothing(const Operation& operation) {
  const bool misses_register =
      operation.source[0].code < source_code::vector_first && needs_register(operation.row->opcode);
  if (misses_register) return true;
  for (const Field& field : operation.source) {
    if (!field.present()) continue;
    const bool gap =
        field.code > source_code::integer_last && field.code < source_code::aperture_first;
    if (gap || field.code == source_code::float_last + 1) return true;
  }
  return false;
}

// The words of one instruction, and what has been read of them.
class DecoderBase {
 public:
  DecoderBase(InstructionSet set, std::span<const std::uint32_t> words)
      : words_(words),
        word_(words.size() > 1 ? words[0] | std::uint64_t{words[1]} << 32 : words[0]) {
    decoded_.set = set;
  }

 protected:
  Operation& operation() { return decoded_.operation; }

  const OpcodeRow* row(Encoding encoding, unsigned number) const {
    return find_row(decoded_.set, encoding, number);
  }

  bool find(Encoding encoding, unsigned number) {
    operation().row = row(encoding, number);
    return operation().row != nullptr;
  }

  bool has_words(unsigned count) {
    decoded_.size = static_cast<std::uint8_t>(4 * count);
    return words_.size() >= count;
  }

  // The dword behind what has been read; empty where the code ends.
  std::optional<std::uint32_t> take_word() {
    const unsigned at = decoded_.size / 4;
    if (words_.size() <= at) return std::nullopt;
    decoded_.size += 4;
    return words_[at];
  }

  bool take_literal() {
    if (!decoded_.literal) decoded_.literal = take_word();
    return decoded_.literal.has_value();
  }

  bool take_literal_if_used() {
    bool used = false;
    for (const Operation* part : {&operation(), decoded_.second ? &*decoded_.second : nullptr}) {
      if (part == nullptr) continue;
      for (const Field& field : part->source) {
        used |= field.present() && field.code == source_code::literal;
      }
    }
    return !used || take_literal();
  }

  // SOP2, SOPK, SOP1, SOPC and SOPP.
  bool scalar_format();
  // Sources and modifiers of VOP3 (of VOP3SD, where `carries`), and of VOP3P.
  void vop3_operands(bool carries);
  void packed_operands();
  // Of MUBUF and MTBUF: what is loaded or stored, and the address's VGPRs.
  void buffer_data(Field data, bool wants_old_value);
  void buffer_address(unsigned vector_register, bool offen, bool idxen);

  std::span<const std::uint32_t> words_;
  std::uint64_t word_;
  Decoded decoded_;

 private:
  bool sopk();
};

// A type of as many registers, or the next larger one.
inline Type raw_type(unsigned registers) {
  switch (registers) {
    case 0: return Type::none;
    case 1: return Type::b32;
    case 2: return Type::b64;
    case 3: return Type::b96;
    case 4: return Type::b128;
    case 5: return Type::b160;
    case 6: return Type::b192;
    default: return registers <= 8 ? Type::b256 : Type::b512;
  }
}

// Those of each instruction set.
std::optional<Decoded> decode_gfx11(std::span<const std::uint32_t> words);
std::optional<Decoded> decode_gfx12(std::span<const std::uint32_t> words);
std::optional<Decoded> decode_gfx9(InstructionSet set, std::span<const std::uint32_t> words);

}  // namespace cass::amdgpu
