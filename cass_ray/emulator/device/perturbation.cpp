#include "perturbation.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "../engine/device_memory.hpp"

namespace cass::device {
namespace {

constexpr std::size_t group = 8;
constexpr std::size_t page = 4096;
constexpr std::byte low_bit{1};

// What the host last left at a device address lies at a fixed distance from it.
constexpr std::uint64_t distance = 2 * amdgpu::aperture_size;

std::byte* left_by_host(const std::byte* address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uint64_t>(address) + distance);
}

// `action` on the part of each aligned group that lies in [start, start + bytes), as an offset from
// `start` and a count, and on where the group starts, as an offset from `start`.
template <class Action>
void for_groups(const std::byte* start, std::size_t bytes, Action action) {
  const auto misaligned = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uint64_t>(start) % group);
  const auto end = static_cast<std::ptrdiff_t>(bytes);
  for (std::ptrdiff_t at = -misaligned; at < end; at += group) {
    const std::ptrdiff_t first = std::max<std::ptrdiff_t>(at, 0);
    const std::ptrdiff_t last = std::min<std::ptrdiff_t>(at + group, end);
    action(at, first, last - first);
  }
}

}  // namespace

bool Perturbation::enable() {
  void* wanted = reinterpret_cast<void*>(amdgpu::device_range + distance);
  void* made = ::mmap(wanted, amdgpu::device_range_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  return enabled_ = made == wanted;
}

void Perturbation::host_wrote(const std::byte* start, std::size_t bytes) {
  if (enabled_ && amdgpu::in_device_range(start)) std::memcpy(left_by_host(start), start, bytes);
}

void Perturbation::forget(const std::byte* start, std::size_t bytes) {
  if (!enabled_ || !amdgpu::in_device_range(start)) return;
  ::madvise(left_by_host(start), (bytes + page - 1) / page * page, MADV_DONTNEED);
}

void Perturbation::moved(const std::byte* to, const std::byte* from, std::size_t bytes) {
  if (enabled_) std::memmove(left_by_host(to), left_by_host(from), bytes);
}

void Perturbation::change(std::byte* target, const std::byte* from, std::size_t bytes) const {
  if (!enabled_) return;
  for_groups(from, bytes, [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
    // Blocks are whole pages: a group that begins in one ends in it.
    if (std::memcmp(from + at, left_by_host(from + at), group) == 0) return;
    for (std::ptrdiff_t k = 0; k < count; ++k) target[first + k] ^= low_bit;
  });
}

void Perturbation::before_launch(const std::vector<Block>& shared) {
  if (!enabled_) return;
  const std::lock_guard lock(guard_);
  if (running_++ != 0) return;
  for (const Block& block : shared) {
    snapshots_.push_back({block, {block.start, block.start + block.bytes}});
  }
}

void Perturbation::after_launch() {
  if (!enabled_) return;
  const std::lock_guard lock(guard_);
  if (--running_ != 0) return;
  const auto& memory = amdgpu::DeviceMemory::instance();
  const auto in_use = memory.in_use();
  for (const Snapshot& snapshot : snapshots_) {
    const auto address = reinterpret_cast<std::uint64_t>(snapshot.block.start);
    if (!memory.holds(address, snapshot.block.bytes)) continue;  // released meanwhile
    std::byte* start = snapshot.block.start;
    const std::byte* before = snapshot.content.data();
    for_groups(start, snapshot.block.bytes,
               [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t count) {
                 if (std::memcmp(start + first, before + first, static_cast<std::size_t>(count)) == 0)
                   return;
                 for (std::ptrdiff_t k = 0; k < count; ++k) start[first + k] ^= low_bit;
               });
  }
  snapshots_.clear();
}

}  // namespace cass::device
