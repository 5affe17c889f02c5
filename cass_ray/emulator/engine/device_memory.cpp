#include "device_memory.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace cass::amdgpu {

DeviceMemory& DeviceMemory::instance() {
  static auto& memory = *new DeviceMemory;  // never destroyed: threads outlive main
  return memory;
}

DeviceMemory::DeviceMemory()
    : usable_(reserve_aperture()),
      device_(device_range, usable_ ? device_range_size : 0),
      shared_(shared_range, usable_ ? shared_range_size : 0) {}

std::byte* DeviceMemory::allocate(std::size_t bytes) {
  const std::unique_lock lock(guard_);
  return bytes <= device_range_size ? device_.allocate(bytes) : nullptr;
}

std::byte* DeviceMemory::map(int file, std::size_t bytes) {
  const std::unique_lock lock(guard_);
  return bytes <= shared_range_size ? shared_.map(file, bytes) : nullptr;
}

void DeviceMemory::release(std::byte* block) {
  const std::unique_lock lock(guard_);
  (in_device_range(block) ? device_ : shared_).release(block);
}

bool DeviceMemory::register_host(std::uint64_t start, std::size_t bytes, int file) {
  void* wanted = reinterpret_cast<void*>(start);
  const std::unique_lock lock(guard_);
  void* made =
      ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
  if (made == MAP_FAILED) return false;
  if (made != wanted) {
    ::munmap(made, bytes);
    return false;
  }
  std::vector<Range> ranges;
  if (const auto* known = registered_.load()) ranges = *known;
  ranges.push_back({start, bytes});
  publish(std::move(ranges));
  return true;
}

void DeviceMemory::unregister_host(std::uint64_t start) {
  const std::unique_lock lock(guard_);
  const auto* known = registered_.load();
  if (known == nullptr) return;
  std::vector<Range> ranges = *known;
  const auto found = std::ranges::find(ranges, start, &Range::start);
  if (found == ranges.end()) return;
  const Range range = *found;
  ranges.erase(found);
  publish(std::move(ranges));
  ::munmap(reinterpret_cast<void*>(range.start), range.bytes);
}

void DeviceMemory::publish(std::vector<Range> ranges) {
  lists_.push_back(std::make_unique<const std::vector<Range>>(std::move(ranges)));
  registered_.store(lists_.back().get(), std::memory_order_release);
}

bool DeviceMemory::holds(std::uint64_t address, std::size_t bytes) const {
  return (in_aperture(address) &&
          (device_.holds(address, bytes) || shared_.holds(address, bytes))) ||
         is_registered(address, bytes);
}

bool DeviceMemory::is_registered(std::uint64_t address, std::size_t bytes) const {
  const auto* ranges = registered_.load(std::memory_order_acquire);
  return ranges != nullptr && std::ranges::any_of(*ranges, [&](const Range& range) {
           const auto offset = address - range.start;
           return offset < range.bytes && bytes <= range.bytes - offset;
         });
}

}  // namespace cass::amdgpu
