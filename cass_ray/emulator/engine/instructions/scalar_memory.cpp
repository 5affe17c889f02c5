// Scalar memory loads (RDNA3 ISA, 16.6 SMEM and 8.2).
#include "containment.hpp"
#include "operation.hpp"

#include "../machine_services.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Offsets: a constant and a register; the two low bits of the address are ignored.
ALWAYS_INLINE u64 offset_of(Wave& w, const Instruction& i) {
  return static_cast<u64>(i.immediate) + scalar_u32(w, i.source[1]);
}

// The base is a pair of registers: the format has no constants there.
ALWAYS_INLINE u64 address_of(Wave& w, const Instruction& i) {
  u64 base;
  std::memcpy(&base, &place<u32>(w, i.source[0].value), sizeof base);
  return (base + offset_of(w, i)) & ~u64{3};
}

template <int count>
ALWAYS_INLINE void load(Wave& w, const Instruction& i, u64 address) {
  u32 values[count];
  std::memcpy(values, reinterpret_cast<const void*>(address), sizeof values);
  std::memcpy(&place<u32>(w, i.destination.value), values, sizeof values);
}

// A handler of its own, so that the usual one calls nothing and saves no registers.
template <int count>
__attribute__((noinline)) void load_outside_aperture(Wave& w, const Instruction* i) {
  const u64 address = address_of(w, *i);
  require(address, sizeof(u32) * count);
  load<count>(w, *i, address);
  CONTINUE_AT(w, i + 1);
}

#define SCALAR_LOAD(bits)                                                      \
  CONTROL(s_load_b##bits) {                                                    \
    w.current = i;                                                             \
    const u64 address = address_of(w, *i);                                     \
    if (__builtin_expect(!in_aperture(address), 0)) {                          \
      __attribute__((musttail)) return load_outside_aperture<bits / 32>(w, i); \
    }                                                                          \
    load<bits / 32>(w, *i, address);                                           \
    CONTINUE_AT(w, i + 1);                                                     \
  }
SCALAR_LOAD(32)
SCALAR_LOAD(64)
SCALAR_LOAD(96)
SCALAR_LOAD(128)
SCALAR_LOAD(256)
SCALAR_LOAD(512)

// Bytes and 16-bit words (gfx12), extended to 32 bits.
template <class Memory, class Extended>
ALWAYS_INLINE void load_small(Wave& w, const Instruction& i) {
  w.current = &i;
  u64 base;
  std::memcpy(&base, &place<u32>(w, i.source[0].value), sizeof base);
  const u64 address = (base + offset_of(w, i)) & ~u64{sizeof(Memory) - 1};
  require(address, sizeof(Memory));
  Memory value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  write_scalar(w, i.destination, static_cast<u32>(static_cast<Extended>(value)));
}
OPERATION(s_load_u8) { load_small<std::uint8_t, u32>(w, i); }
OPERATION(s_load_i8) { load_small<std::int8_t, std::int32_t>(w, i); }
OPERATION(s_load_u16) { load_small<std::uint16_t, u32>(w, i); }
OPERATION(s_load_i16) { load_small<std::int16_t, std::int32_t>(w, i); }

// Clocks (gfx9).
OPERATION(s_memtime) { write_scalar64(w, i.destination, service_cycles()); }
OPERATION(s_memrealtime) { write_scalar64(w, i.destination, service_realtime()); }

// Through a buffer resource: 48 bits of base; what lies beyond stride x records (or the records, in
// bytes, where the stride is zero) reads as zero.
struct Buffer {
  u64 base, size;
};
ALWAYS_INLINE Buffer buffer_of(Wave& w, const Instruction& i) {
  const u32* resource = &place<u32>(w, i.source[0].value);
  const u64 stride = resource[1] >> 16 & 0x3FFF;
  return {resource[0] | u64{resource[1] & 0xFFFF} << 32,
          stride == 0 ? resource[2] : stride * resource[2]};
}
template <int count>
ALWAYS_INLINE void buffer_load(Wave& w, const Instruction& i) {
  w.current = &i;
  const auto [base, size] = buffer_of(w, i);
  const u64 offset = offset_of(w, i) & ~u64{3};
  u32 values[count];
  for (int k = 0; k < count; ++k) {
    const u64 at = offset + 4 * static_cast<u64>(k);
    values[k] = 0;
    if (at + 4 > size) continue;
    require(base + at, 4);
    std::memcpy(&values[k], reinterpret_cast<const void*>(base + at), 4);
  }
  std::memcpy(&place<u32>(w, i.destination.value), values, sizeof values);
}

#define SCALAR_BUFFER_LOAD(bits) \
  OPERATION(s_buffer_load_b##bits) { buffer_load<bits / 32>(w, i); }
SCALAR_BUFFER_LOAD(32)
SCALAR_BUFFER_LOAD(64)
SCALAR_BUFFER_LOAD(96)
SCALAR_BUFFER_LOAD(128)
SCALAR_BUFFER_LOAD(256)
SCALAR_BUFFER_LOAD(512)

template <class Memory, class Extended>
ALWAYS_INLINE void buffer_load_small(Wave& w, const Instruction& i) {
  w.current = &i;
  const auto [base, size] = buffer_of(w, i);
  const u64 offset = offset_of(w, i) & ~u64{sizeof(Memory) - 1};
  Memory value = 0;
  if (offset + sizeof(Memory) <= size) {
    require(base + offset, sizeof(Memory));
    std::memcpy(&value, reinterpret_cast<const void*>(base + offset), sizeof value);
  }
  write_scalar(w, i.destination, static_cast<u32>(static_cast<Extended>(value)));
}
OPERATION(s_buffer_load_u8) { buffer_load_small<std::uint8_t, u32>(w, i); }
OPERATION(s_buffer_load_i8) { buffer_load_small<std::int8_t, std::int32_t>(w, i); }
OPERATION(s_buffer_load_u16) { buffer_load_small<std::uint16_t, u32>(w, i); }
OPERATION(s_buffer_load_i16) { buffer_load_small<std::int16_t, std::int32_t>(w, i); }

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
