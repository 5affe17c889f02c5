#include "fragments.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "../engine/device_memory.hpp"

namespace cass::device {
namespace {

using amdgpu::DeviceMemory;

constexpr std::size_t page = 4096;
constexpr std::size_t block_bytes = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr std::uintptr_t block_of(std::uintptr_t address) {
  return address / block_bytes * block_bytes;
}

std::byte* pointer(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

bool Fragments::shares_block(std::size_t bytes) { return bytes <= block_bytes; }

std::byte* Fragments::allocate(std::size_t bytes) {
  if (bytes > SIZE_MAX - block_bytes) return nullptr;
  const auto size = round_up(std::max<std::size_t>(bytes, 1), page);
  if (!shares_block(size)) return DeviceMemory::instance().allocate(round_up(size, block_bytes));
  std::unique_lock lock(guard_);
  if (size > end_ - next_) {
    lock.unlock();
    const auto block = reinterpret_cast<Address>(DeviceMemory::instance().allocate(block_bytes));
    if (block == 0) return nullptr;
    lock.lock();
    blocks_.emplace(block, 0);
    next_ = block;
    end_ = block + block_bytes;
  }
  const Address start = next_;
  next_ += size;
  sizes_.emplace(start, size);
  ++blocks_[block_of(start)];
  return pointer(start);
}

void Fragments::release(std::byte* start) {
  if (std::byte* const unused = forget(start)) DeviceMemory::instance().release(unused);
}

std::byte* Fragments::forget(std::byte* start) {
  const auto address = reinterpret_cast<Address>(start);
  const std::lock_guard lock(guard_);
  const auto found = sizes_.find(address);
  if (found == sizes_.end()) return start;
  const auto block = blocks_.find(block_of(address));
  const auto size = found->second;
  sizes_.erase(found);
  if (--block->second > 0) {
    ::madvise(start, size, MADV_DONTNEED);
    return nullptr;
  }
  if (block->first + block_bytes == end_) next_ = end_ = 0;
  std::byte* const unused = pointer(block->first);
  blocks_.erase(block);
  return unused;
}

bool Fragments::may_hold(std::uint64_t address, std::size_t bytes) const {
  const std::lock_guard lock(guard_);
  if (!blocks_.contains(block_of(address))) return true;
  const auto above = sizes_.upper_bound(address);
  if (above == sizes_.begin()) return false;
  const auto [start, size] = *std::prev(above);
  const auto offset = address - start;
  return offset <= size && bytes <= size - offset;
}

}  // namespace cass::device
