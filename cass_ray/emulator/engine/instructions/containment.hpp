// Addresses that kernels may use: what a handler asks before it touches memory.
#pragma once

#include "../aperture.hpp"
#include "../machine_services.hpp"
#include "memory_blocks.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
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
// Scratch, whose offsets are compared with its size.
struct Local : Narrow {};
// LDS, of which the workgroup has `reach` bytes (lanes_within).
struct GroupLocal : Local {
  std::uint32_t reach;
};
// Flat addresses, whose kind has been looked at (flat_addresses).
struct Contained : Wide {};

ALWAYS_INLINE U64 addresses(const Narrow& at) {
  return convert<U64>(at.offset) + reinterpret_cast<std::uint64_t>(at.base);
}
ALWAYS_INLINE U64 addresses(const Wide& at) { return at.address; }
ALWAYS_INLINE U64 addresses(const Split& at) { return join(at.low, at.high) + at.offset; }

// Whether a comparison holds in every lane of `exec`. Where that is all of them, nothing has to be
// brought into lanes' order: half the instructions of mask_of.
ALWAYS_INLINE bool holds_in(I32 lanes, std::uint32_t exec) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  if (__builtin_expect(exec == ~0U, 1)) {
    struct Parts {
      __m256i part[4];
    };
    const auto parts = bits_as<Parts>(lanes);
    const __m256i low = _mm256_and_si256(parts.part[0], parts.part[1]);
    const __m256i high = _mm256_and_si256(parts.part[2], parts.part[3]);
    return _mm256_movemask_epi8(_mm256_and_si256(low, high)) == -1;
  }
#endif
  return (mask_of(lanes) & exec) == exec;
}
ALWAYS_INLINE bool holds_in(I64 lanes, std::uint32_t exec) {
  return holds_in(convert<I32>(lanes), exec);
}

// Returns if each active lane's `bytes` bytes are memory that kernels may use; else the wave ends
// with an access violation. Inside the aperture that is for the mappings to say.
ALWAYS_INLINE void require(std::uint32_t, const Local&, std::uint32_t) {}
ALWAYS_INLINE void require(std::uint32_t, const Contained&, std::uint32_t) {}

ALWAYS_INLINE void require_listed(std::uint32_t exec, U64 address, std::uint32_t bytes) {
  const AddressList list = listed(address);
  check_addresses(exec, list.lane, bytes);
}
ALWAYS_INLINE void require(std::uint32_t exec, const Narrow& at, std::uint32_t bytes) {
  // The base and all 32-bit offsets from it inside: no further than 4 GiB below the aperture's end.
  const auto place = reinterpret_cast<std::uint64_t>(at.base) - aperture;
  if (__builtin_expect(place >> 32 < (aperture_size >> 32) - 1, 1)) return;
  require_listed(exec, addresses(at), bytes);
}
ALWAYS_INLINE void require(std::uint32_t exec, const Split& at, std::uint32_t bytes) {
  constexpr auto inner = static_cast<std::uint32_t>((aperture_size - 1) >> 32);
  constexpr auto wanted = static_cast<std::uint32_t>(aperture >> 32);
  if (__builtin_expect(holds_in((at.high & ~inner) == wanted, exec), 1)) return;
  require_listed(exec, addresses(at), bytes);
}
ALWAYS_INLINE void require(std::uint32_t exec, const Wide& at, std::uint32_t bytes) {
  constexpr std::uint64_t wanted = aperture >> aperture_bits;
  if (__builtin_expect(holds_in((at.address >> aperture_bits) == wanted, exec), 1)) return;
  require_listed(exec, at.address, bytes);
}
// The lanes of `exec` whose store or atomic has an effect: beyond a workgroup's LDS they have none
// (RDNA3 ISA, LDS, out of range; checking mode reports them). What loads read: lds_address.hpp.
template <class At>
ALWAYS_INLINE std::uint32_t lanes_within(std::uint32_t exec, const At&, std::uint32_t) {
  return exec;
}
ALWAYS_INLINE std::uint32_t lanes_within(std::uint32_t exec, const GroupLocal& at,
                                         std::uint32_t bytes) {
  if (__builtin_expect(at.reach < bytes, 0)) return 0;
  const I32 inside = at.offset <= at.reach - bytes;
  if (__builtin_expect(holds_in(inside, exec), 1)) return exec;
  return mask_of(inside) & exec;
}

// One address, of scalar memory.
ALWAYS_INLINE void require(std::uint64_t address, std::uint32_t bytes) {
  if (__builtin_expect(in_aperture(address), 1)) return;
  check_addresses(1, &address, bytes);
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
