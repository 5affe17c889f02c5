// Addresses that kernels may use: what a handler asks before it touches memory.
#pragma once

#include "../aperture.hpp"
#include "../machine_services.hpp"
#include "memory_blocks.hpp"

namespace cass::rdna3::CASS_RDNA3_LEVEL {
namespace {

// Where the lanes' data are: a common base and 32-bit offsets, or full addresses.
struct Narrow {
  std::byte* base;
  U32 offset;
};
struct Wide {
  U64 address;
};
// Full addresses as registers hold them, and what is added to each: a few kilobytes.
struct Split {
  U32 low;
  U32 high;
  std::uint64_t offset;
};
// The workgroup's LDS: a mapping of 64 KiB alone in its 4 GiB, which offsets do not leave. Scratch,
// whose offsets are compared with its size.
struct Local : Narrow {};
// Flat addresses, whose kind has been looked at (flat_addresses).
struct Contained : Wide {};

ALWAYS_INLINE U64 addresses(const Narrow& at) {
  return convert<U64>(at.offset) + reinterpret_cast<std::uint64_t>(at.base);
}
ALWAYS_INLINE U64 addresses(const Wide& at) { return at.address; }
ALWAYS_INLINE U64 addresses(const Split& at) { return join(at.low, at.high) + at.offset; }

// Returns if each active lane's `bytes` bytes are memory that kernels may use; else the wave ends
// with an access violation. Inside the aperture that is for the mappings to say.
ALWAYS_INLINE void require(std::uint32_t, const Local&, std::uint32_t) {}
ALWAYS_INLINE void require(std::uint32_t, const Contained&, std::uint32_t) {}

ALWAYS_INLINE void require_listed(std::uint32_t exec, U64 address, std::uint32_t bytes) {
  const AddressList list = listed(address);
  check_addresses(exec, list.lane, bytes);
}
ALWAYS_INLINE void require(std::uint32_t exec, const Narrow& at, std::uint32_t bytes) {
  // All offsets from a base inside stay inside: neither end of the aperture is given out.
  const auto base = reinterpret_cast<std::uint64_t>(at.base);
  if (__builtin_expect(in_aperture(base) && in_aperture(base + 0xFFFF'FFFF), 1)) return;
  require_listed(exec, addresses(at), bytes);
}
ALWAYS_INLINE void require(std::uint32_t exec, const Split& at, std::uint32_t bytes) {
  constexpr unsigned shift = aperture_bits - 32;
  constexpr auto wanted = static_cast<std::uint32_t>(aperture >> aperture_bits);
  const std::uint32_t inside = mask_of((at.high >> shift) == wanted);
  if (__builtin_expect((inside & exec) == exec, 1)) return;
  require_listed(exec, addresses(at), bytes);
}
ALWAYS_INLINE void require(std::uint32_t exec, const Wide& at, std::uint32_t bytes) {
  constexpr std::uint64_t wanted = aperture >> aperture_bits;
  const std::uint32_t inside = mask_of((at.address >> aperture_bits) == wanted);
  if (__builtin_expect((inside & exec) == exec, 1)) return;
  require_listed(exec, at.address, bytes);
}
// One address, of scalar memory.
ALWAYS_INLINE void require(std::uint64_t address, std::uint32_t bytes) {
  if (__builtin_expect(in_aperture(address), 1)) return;
  check_addresses(1, &address, bytes);
}

}  // namespace
}  // namespace cass::rdna3::CASS_RDNA3_LEVEL
