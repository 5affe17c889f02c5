// Operands of machine code as places in a wave or constants.
#pragma once

#include <cstdint>

#include "decoder.hpp"
#include "instruction.hpp"

namespace cass::amdgpu {

struct OperandContext {
  bool wide = false;          // waves of 64 lanes
  unsigned half = 0;          // of such a wave
  std::uint32_t literal = 0;  // the constant behind the instruction
};

Operand lower_operand(const Field& field, bool written, const OperandContext& context);

// VGPRs up to the last one that the operand takes; 0 where it is in none.
unsigned vector_registers(const Field& field);

}  // namespace cass::amdgpu
