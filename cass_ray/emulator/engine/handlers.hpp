// The handlers of each opcode, one set per level of the CPU's vector instructions.
#pragma once

#include <string_view>

#include "instruction.hpp"
#include "isa.hpp"

namespace cass::amdgpu {

// Placed in a section of its level by OPERATION() of instructions/operation.hpp.
struct HandlerEntry {
  Opcode opcode;
  Handler handler;
};

struct HandlerSet {
  std::string_view level;  // "avx512", "avx2", "portable"
  Handler by_opcode[opcode_count] = {};
  Handler operator[](Opcode opcode) const { return by_opcode[static_cast<unsigned>(opcode)]; }
};

// The set for this CPU; CASS_EMULATOR_SIMD=portable|avx2|avx512 asks for a lower one.
const HandlerSet& handlers();

}  // namespace cass::amdgpu
