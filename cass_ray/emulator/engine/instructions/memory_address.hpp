// Addresses of global, flat and scratch instructions.
#pragma once

#include "memory_access.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

constexpr u32 flat_bytes = 16;  // the most that a flat instruction moves for a lane

ALWAYS_INLINE Narrow global_offsets(Wave& w, const Instruction& i) {
  const u64 base = scalar_u64(w, i.source[3]) + static_cast<u64>(i.immediate);
  return {reinterpret_cast<std::byte*>(base), read_u32(w, i.source[0])};
}

ALWAYS_INLINE Split global_addresses(Wave& w, const Instruction& i) {
  const u32 low = i.source[0].value;
  return {place<U32>(w, low), place<U32>(w, low + w.row_stride), static_cast<u64>(i.immediate)};
}

ALWAYS_INLINE Wide any_global_addresses(Wave& w, const Instruction& i) {
  if (i.source[3].kind == OperandKind::scalar) return {addresses(global_offsets(w, i))};
  return {addresses(global_addresses(w, i))};
}

ALWAYS_INLINE U32 lane_scratch(const Wave& w, const Instruction& i) {
  return (lane_numbers + lanes * i.half) * w.scratch_stride;
}

// LDS lies at its flat address, alone in its 4 GiB; private memory does not.
ALWAYS_INLINE Contained flat_addresses(Wave& w, const Instruction& i) {
  U64 address = read_u64(w, i.source[0]) + static_cast<u64>(i.immediate);
  const U64 high = address >> 32;
  I64 inside = (address >> aperture_bits) == (u64)(aperture >> aperture_bits);
  inside |= high == (u64)(reinterpret_cast<u64>(w.lds) >> 32);
  if (w.scratch_stride != 0) {
    const U64 offset = address & 0xFFFF'FFFFULL;
    const I64 is_private = (high == (u64)private_aperture_high) & (offset < (u64)w.scratch_stride);
    const U64 own = offset + convert<U64>(lane_scratch(w, i)) + reinterpret_cast<u64>(w.scratch);
    address = is_private ? own : address;
    inside |= is_private;
  }
  const u32 exec = exec_of(w, i);
  if (__builtin_expect((mask_of(inside) & exec) != exec, 0)) {
    w.current = &i;
    const U64 outside = inside ? (U64)aperture : address;
    require_listed(exec, outside, flat_bytes);
  }
  return {{address}};
}

// False after a fault: an active lane's offset leaves its scratch.
ALWAYS_INLINE bool scratch_offsets(Wave& w, const Instruction* i, Local& at) {
  U32 offset = (U32) static_cast<u32>(i->immediate);
  if (i->source[0].kind == OperandKind::vector) offset += read_u32(w, i->source[0]);
  if (i->source[3].kind == OperandKind::scalar) offset += scalar_u32(w, i->source[3]);
  if (__builtin_expect((mask_of(offset >= w.scratch_stride) & exec_of(w, *i)) != 0, 0)) {
    stop(w, i, WaveFault::stack_overflow);
    return false;
  }
  at = {{w.scratch, offset + lane_scratch(w, *i)}};
  return true;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
