// Addresses in LDS (RDNA3 ISA, chapter 12): a register, and an offset in the instruction.
#pragma once

#include "memory_access.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

ALWAYS_INLINE GroupLocal lds_at(Wave& w, const Instruction& i, u32 offset) {
  return {{{w.lds, read_u32(w, i.source[0]) + offset}}, w.lds_reach};
}
ALWAYS_INLINE GroupLocal lds_at(Wave& w, const Instruction& i) {
  return lds_at(w, i, static_cast<u32>(i.immediate));
}

// Where a load reads: beyond the workgroup's LDS, from the zeros that lie behind it. That costs
// less than asking which lanes are inside. A load across the end, which takes an address that is
// not a multiple of its size, has what is inside and zeros.
ALWAYS_INLINE Local loaded_from(const Wave& w, U32 offset) {
  return {{w.lds, __builtin_elementwise_min(offset, (U32)w.lds_reach)}};
}
ALWAYS_INLINE Local loaded_from(Wave& w, const Instruction& i, u32 offset) {
  return loaded_from(w, read_u32(w, i.source[0]) + offset);
}
ALWAYS_INLINE Local loaded_from(Wave& w, const Instruction& i) {
  return loaded_from(w, i, static_cast<u32>(i.immediate));
}

// Whether so many bytes at `offset` are the workgroup's.
ALWAYS_INLINE bool lds_holds(const Wave& w, u32 offset, u32 bytes) {
  return w.lds_reach >= bytes && offset <= w.lds_reach - bytes;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
