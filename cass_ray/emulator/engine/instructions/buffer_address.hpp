// Addresses of buffer instructions (RDNA3 ISA, chapter 9).
#pragma once

#include "memory_access.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

struct Resource {
  u64 base;
  u32 stride;
  u32 records;
  u32 bounds;  // OOB_SELECT: 3 raw bytes, 2 never unless empty, else by index
};
ALWAYS_INLINE Resource resource_of(Wave& w, const Instruction& i) {
  const u32* words = &place<u32>(w, i.source[2].value);
  return {words[0] | u64{words[1] & 0xFFFF} << 32, words[1] >> 16 & 0x3FFF, words[2],
          words[3] >> 28 & 3};
}

// Scratch of gfx90a: the descriptor that the kernel starts with. Its stack pointer counts the bytes
// of all 64 lanes; lanes beyond the end get an address that is not mapped.
constexpr u32 add_thread_id = 1U << 23;
ALWAYS_INLINE bool is_scratch(Wave& w, const Instruction& i) {
  const u32* words = &place<u32>(w, i.source[2].value);
  return words[3] == add_thread_id && words[0] == 0;
}
ALWAYS_INLINE U64 scratch_addresses(Wave& w, const Instruction& i, U32 offset, u32 size) {
  const U32 own = offset + scalar_u32(w, i.source[3]) / 64;
  const U64 address = convert<U64>(own + (lane_numbers + lanes * i.half) * w.scratch_stride) +
                      reinterpret_cast<u64>(w.scratch);
  const I32 inside = (own < w.scratch_stride) & (own + size <= w.scratch_stride);
  return convert<I64>(inside) ? address : (U64)0ULL;
}

struct BufferLanes {
  Contained at;
  u32 inside;  // active lanes within bounds
};
// With both an index and an offset in VGPRs, the index comes first.
ALWAYS_INLINE BufferLanes buffer_lanes(Wave& w, const Instruction& i, u32 size) {
  const Resource resource = resource_of(w, i);
  U32 index = 0U, offset = (U32) static_cast<u32>(i.immediate & 0xFFF);
  if ((i.flags & flag::idxen) != 0) {
    index = read_u32(w, i.source[0]);
    if ((i.flags & flag::offen) != 0) offset += place<U32>(w, i.source[0].value + w.row_stride);
  } else if ((i.flags & flag::offen) != 0) {
    offset += read_u32(w, i.source[0]);
  }
  if (__builtin_expect(is_scratch(w, i), 0)) {
    return {{{scratch_addresses(w, i, offset, size)}}, exec_of(w, i)};
  }
  const u32 moved = scalar_u32(w, i.source[3]);
  const U64 relative = convert<U64>(index) * (u64)resource.stride + convert<U64>(offset);
  I32 inside = (I32)-1;
  if (resource.bounds == 2) {
    inside = (I32)(resource.records != 0 ? -1 : 0);
  } else if (resource.bounds == 3 || resource.stride == 0) {
    // Out of range: offset >= num_records - sgpr_offset. rocBLAS's gemm reads behind a matrix so.
    inside = convert<I32>(relative + (u64)size + (u64)moved <= (u64)resource.records);
  } else {
    inside = index < resource.records;
  }
  const u64 base = resource.base + moved;
  const u32 active = mask_of(inside) & exec_of(w, i);
  const Wide at{relative + base};
  w.current = &i;
  require(active, at, size);
  return {{at}, active};
}

// Runs `action` with EXEC narrowed to lanes within bounds.
template <class Action>
ALWAYS_INLINE void within_bounds(Wave& w, const Instruction& i, u32 size, Action action) {
  const BufferLanes lanes_at = buffer_lanes(w, i, size);
  u32& exec = w.scalar[scalar::exec + i.half];
  const u32 saved = exec;
  exec = lanes_at.inside;
  action(lanes_at.at);
  exec = saved;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
