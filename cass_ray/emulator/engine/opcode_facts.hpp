// Groups of instructions that lowering treats alike.
#pragma once

#include "decoder.hpp"

namespace cass::amdgpu {

bool is_branch(Opcode opcode);

bool is_vector(Encoding encoding);

bool is_float(Type type);

// Two f32 in 64 bits.
bool is_packed_f32(Opcode opcode);

// Whether rounding or denormals of MODE matter.
bool depends_on_mode(const OpcodeRow& row);

// One pass over a wave's lanes handles both halves, or none of it is per lane.
bool once_for_both_halves(Opcode opcode);

// Adds to what its destination holds.
bool accumulates(Opcode opcode);

}  // namespace cass::amdgpu
