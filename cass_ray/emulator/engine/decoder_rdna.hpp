// What the formats of RDNA3 and RDNA4 have in common: all but those of memory (RDNA3 ISA and RDNA4
// ISA, chapter 15).
#pragma once

#include "decoder_base.hpp"
#include "image.hpp"

namespace cass::amdgpu {

class RdnaDecoder : public DecoderBase {
 public:
  virtual ~RdnaDecoder() = default;

 protected:
  using DecoderBase::DecoderBase;

  // Any instruction; memory_format() has those of memory.
  bool dispatch();
  virtual bool memory_format() = 0;

  // Fields of FLAT, GLOBAL and SCRATCH: numbers of registers, and whether they matter.
  struct FlatFields {
    unsigned destination, address, data, base;
    bool has_scratch_address;
    bool wants_old_value;  // of atomics
  };
  void flat_operands(const FlatFields& fields);

  struct ImageRegisters {
    unsigned data, address, resource, sampler;
  };
  void image_operands(const ImageFields& fields, const ImageRegisters& registers);

  // What has been read, if it is an instruction.
  std::optional<Decoded> checked(bool read) {
    if (!read || names_nothing(operation())) return std::nullopt;
    if (decoded_.second && names_nothing(*decoded_.second)) return std::nullopt;
    return decoded_;
  }

 private:
  bool vop1();
  bool vop2();
  bool vopc();
  bool vop3();
  bool vop3p();
  bool vopd();
  bool ds();
  bool take_dpp_if_used();
  bool has_matrices_in_registers(unsigned number);
  Operation vopd_part(const OpcodeRow& row, unsigned source0, unsigned source1, unsigned target);

  // In VOP1, VOP2, VOPC a 16-bit VGPR operand is v0..v127, bit 7 selects its high half.
  void split_half(Field& field) {
    if (!is_16_bit(field.type) || field.code < source_code::vector_first) return;
    if ((field.code & 0x80) != 0) {
      field.code &= static_cast<std::uint16_t>(~0x80U);
      field.modifiers |= modifier::high;
    }
  }
};

}  // namespace cass::amdgpu
