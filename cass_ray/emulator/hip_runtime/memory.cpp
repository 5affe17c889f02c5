#include "memory.hpp"

#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "../engine/environment.hpp"
#include "device_kind.hpp"
#include "errors.hpp"
#include "remote_device.hpp"
#include "shared_pages.hpp"

namespace cass::hip {
namespace {

// $CASS_EMULATOR_MEMORY, in bytes, else that of the card.
std::size_t device_memory(const DeviceKind& kind) {
  const char* text = emulator_variable("MEMORY");
  if (text == nullptr) return kind.memory_bytes;
  const std::string_view value = text;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
  if (error == std::errc{} && end == value.data() + value.size() && bytes > 0) return bytes;
  report_once("CASS_EMULATOR_MEMORY is not a number of bytes: ignored");
  return kind.memory_bytes;
}

// What the machine could give now without swapping, pages of files that it can drop included.
std::size_t machine_memory() {
  constexpr auto rest_of_line = std::numeric_limits<std::streamsize>::max();
  std::ifstream lines("/proc/meminfo");
  std::string name;
  for (std::size_t kib = 0; lines >> name >> kib; lines.ignore(rest_of_line, '\n'))
    if (name == "MemAvailable:") return kib * 1024;
  struct sysinfo info{};  // where /proc is not to be seen
  if (::sysinfo(&info) != 0) return SIZE_MAX / 2;
  return (static_cast<std::size_t>(info.freeram) + info.bufferram) * info.mem_unit;
}

device::MemoryKind remote_kind(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::array: return device::MemoryKind::array;
    case MemoryKind::pinned: return device::MemoryKind::pinned;
    case MemoryKind::managed: return device::MemoryKind::managed;
    default: return device::MemoryKind::device;
  }
}

std::uintptr_t key(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

bool is_ours(MemoryKind kind) {
  return kind != MemoryKind::registered && kind != MemoryKind::variable;
}

bool is_device_memory(MemoryKind kind) {
  return kind == MemoryKind::device || kind == MemoryKind::array;
}

}  // namespace

Memory& Memory::instance() {
  static auto& memory = *new Memory;  // never destroyed: programs free memory in their destructors
  return memory;
}

Memory::Memory() {
  for (const DeviceKind* kind : device_kinds()) amounts_.push_back({device_memory(*kind)});
}

hipError_t Memory::allocate(std::size_t bytes, MemoryKind kind, int device, unsigned flags,
                            void** address, Pool* pool) {
  const std::unique_lock lock(guard_);
  Amounts& amounts = amounts_[static_cast<std::size_t>(device)];
  if (bytes > amounts.total || (is_device_memory(kind) && bytes > amounts.left())) {
    return hipErrorOutOfMemory;
  }
  std::byte* block = RemoteDevice::instance().allocate(remote_kind(kind), bytes);
  if (block == nullptr) return hipErrorOutOfMemory;
  if (is_device_memory(kind)) amounts.used += bytes;
  remember({block, bytes, kind, device, flags, pool, next_id_++});
  *address = block;
  return hipSuccess;
}

hipError_t Memory::release(void* address) {
  const std::unique_lock lock(guard_);
  const auto found = allocations_.find(key(address));
  if (found == allocations_.end() || !is_ours(found->second.kind)) return hipErrorInvalidValue;
  const auto allocation = found->second;
  allocations_.erase(found);
  const bool on_device = is_device_memory(allocation.kind);
  if (on_device) amounts_[static_cast<std::size_t>(allocation.device)].used -= allocation.size;
  RemoteDevice::instance().release(allocation.base, allocation.size, !on_device);
  return hipSuccess;
}

void Memory::release_all(int device) {
  std::vector<void*> ours;
  {
    const std::shared_lock lock(guard_);
    for (const auto& [start, allocation] : allocations_) {
      if (is_ours(allocation.kind) && allocation.device == device) ours.push_back(allocation.base);
    }
  }
  for (void* address : ours) static_cast<void>(release(address));
}

hipError_t Memory::adopt(void* address, std::size_t bytes, MemoryKind kind, int device,
                         unsigned flags) {
  const std::unique_lock lock(guard_);
  const auto next = allocations_.lower_bound(key(address));
  const bool meets_next = next != allocations_.end() && next->first < key(address) + bytes;
  bool meets_previous = false;
  if (next != allocations_.begin()) {
    const auto& previous = std::prev(next)->second;
    meets_previous = key(previous.base) + previous.size > key(address);
  }
  if (meets_next || meets_previous) return hipErrorHostMemoryAlreadyRegistered;
  auto* start = static_cast<std::byte*>(address);
  if (kind == MemoryKind::registered && !SharedPages::instance().take(start, bytes)) {
    return hipErrorOutOfMemory;
  }
  remember({start, bytes, kind, device, flags, nullptr, next_id_++});
  return hipSuccess;
}

hipError_t Memory::abandon(void* address, MemoryKind kind) {
  const std::unique_lock lock(guard_);
  const auto found = allocations_.find(key(address));
  if (found == allocations_.end() || found->second.kind != kind) {
    return hipErrorHostMemoryNotRegistered;
  }
  const auto allocation = found->second;
  allocations_.erase(found);
  if (kind == MemoryKind::registered)
    SharedPages::instance().drop(allocation.base, allocation.size);
  return hipSuccess;
}

std::optional<Allocation> Memory::find(const void* address) const {
  const std::shared_lock lock(guard_);
  auto found = allocations_.upper_bound(key(address));
  if (found == allocations_.begin()) return std::nullopt;
  --found;
  const auto& allocation = found->second;
  // One past the end belongs to nobody, except that an empty block holds its own start.
  const auto offset = key(address) - found->first;
  if (offset >= std::max<std::size_t>(allocation.size, 1)) return std::nullopt;
  return allocation;
}

std::size_t Memory::available(int device) const {
  const std::shared_lock lock(guard_);
  const Amounts& amounts = amounts_[static_cast<std::size_t>(device)];
  // The machine's is asked for once: programs compare what is free before and after.
  static const std::size_t machine = machine_memory() + amounts.used;
  return std::min(amounts.left(), machine - std::min(amounts.used, machine));
}

void Memory::remember(const Allocation& allocation) {
  allocations_.emplace(key(allocation.base), allocation);
}

}  // namespace cass::hip
