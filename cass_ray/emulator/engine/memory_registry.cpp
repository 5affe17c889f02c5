#include "memory_registry.hpp"

#include <algorithm>
#include <mutex>

namespace cass::amdgpu {

MemoryRegistry& MemoryRegistry::instance() {
  static auto* registry = new MemoryRegistry;  // exit handlers may free memory
  return *registry;
}

void MemoryRegistry::add(std::uint64_t start, std::uint64_t size, AllocationKind kind) {
  const std::lock_guard lock(mutex);
  forget_overlapping(start, size);
  Allocation allocation{start, size, kind, false, {}};
  // What the host may write at any time cannot be followed.
  if (kind == AllocationKind::device) allocation.initialized.resize(size);
  allocations_[start] = std::move(allocation);
}

void MemoryRegistry::remove(std::uint64_t start) {
  const std::lock_guard lock(mutex);
  const auto found = allocations_.find(start);
  if (found == allocations_.end()) return;
  found->second.freed = true;
  found->second.initialized = {};
}

void MemoryRegistry::mark(std::uint64_t start, std::uint64_t size) {
  const std::lock_guard lock(mutex);
  Allocation* allocation = find(start);
  if (allocation == nullptr || allocation->initialized.empty()) return;
  const std::uint64_t first = start - allocation->start;
  const std::uint64_t last = std::min(first + size, allocation->size);
  std::fill(allocation->initialized.begin() + static_cast<std::ptrdiff_t>(first),
            allocation->initialized.begin() + static_cast<std::ptrdiff_t>(last), true);
}

MemoryRegistry::Allocation* MemoryRegistry::find(std::uint64_t address) {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  Allocation& candidate = std::prev(after)->second;
  return candidate.contains(address, 1) ? &candidate : nullptr;
}

const MemoryRegistry::Allocation* MemoryRegistry::nearest(std::uint64_t address) const {
  const Allocation* best = nullptr;
  std::uint64_t distance = ~std::uint64_t{0};
  const auto consider = [&](const Allocation& allocation) {
    if (allocation.freed) return;
    const std::uint64_t end = allocation.start + allocation.size;
    const std::uint64_t away = address >= end ? address - end : allocation.start - address;
    if (away < distance) {
      distance = away;
      best = &allocation;
    }
  };
  const auto after = allocations_.upper_bound(address);
  if (after != allocations_.end()) consider(after->second);
  if (after != allocations_.begin()) consider(std::prev(after)->second);
  return best;
}

void MemoryRegistry::forget_overlapping(std::uint64_t start, std::uint64_t size) {
  auto at = allocations_.upper_bound(start);
  if (at != allocations_.begin() && std::prev(at)->second.contains(start, 1)) --at;
  while (at != allocations_.end() && at->first < start + size) at = allocations_.erase(at);
}

void register_allocation(const void* address, std::size_t size, AllocationKind kind) {
  if (!checking()) return;
  MemoryRegistry::instance().add(reinterpret_cast<std::uint64_t>(address), size, kind);
}

void unregister_allocation(const void* address) {
  if (checking()) MemoryRegistry::instance().remove(reinterpret_cast<std::uint64_t>(address));
}

void mark_initialized(const void* address, std::size_t size) {
  if (checking()) MemoryRegistry::instance().mark(reinterpret_cast<std::uint64_t>(address), size);
}

}  // namespace cass::amdgpu
