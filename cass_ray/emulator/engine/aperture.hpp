// The addresses that kernels may use, the same in every process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cass::amdgpu {

// A multiple of its own size, above the apertures of LDS and below where systems put programs (from
// 0x5555'5555'4000 on, with 32 random bits up to 0x6555'...), libraries, heaps and stacks;
// sanitizers have nothing there either. All that a kernel can address lies inside, except for
// registered host memory and, by flat addresses, its own LDS and scratch.
inline constexpr unsigned aperture_bits = 39;
inline constexpr std::uint64_t aperture = 0x5100'0000'0000;
inline constexpr std::uint64_t aperture_size = std::uint64_t{1} << aperture_bits;

// Nothing is handed out in the first and last 4 GiB: addresses near those that were checked, and
// all 32-bit offsets from a base that was, stay inside the aperture.
inline constexpr std::uint64_t aperture_margin = std::uint64_t{4} << 30;

inline constexpr std::uint64_t device_range = aperture + aperture_margin;
inline constexpr std::size_t device_range_size = std::size_t{256} << 30;
inline constexpr std::uint64_t shared_range = device_range + device_range_size;  // with the host
inline constexpr std::size_t shared_range_size = std::size_t{128} << 30;
static_assert(shared_range + shared_range_size + aperture_margin <= aperture + aperture_size);

// Beyond both ends of the aperture, inaccessible too: vectors of 32 lanes around a checked address.
inline constexpr std::size_t aperture_guard = std::size_t{1} << 16;

inline constexpr bool in_aperture(std::uint64_t address) {
  return address >> aperture_bits == aperture >> aperture_bits;
}

inline bool in_device_range(const void* address) {
  return reinterpret_cast<std::uint64_t>(address) - device_range < device_range_size;
}

// Takes the aperture and its guards, inaccessible, for this process. False where something else is
// there.
bool reserve_aperture();

}  // namespace cass::amdgpu
