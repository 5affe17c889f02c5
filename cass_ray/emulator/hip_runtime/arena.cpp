#include "arena.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace cass::hip {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t least_reservation = std::size_t{256} << 20;

// Each guarded block costs the kernel two mappings, of which a process may have 65,530.
constexpr std::size_t guarded_blocks = 8192;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void* address(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

}  // namespace

Arena::Arena(std::size_t bytes) {
  for (; bytes >= least_reservation; bytes /= 2) {
    void* range =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    ::madvise(range, bytes, MADV_DONTDUMP);
    first_ = reinterpret_cast<std::uintptr_t>(range);
    bytes_ = bytes;
    next_ = first_;
    free_.emplace(first_, bytes_);
    return;
  }
}

std::byte* Arena::allocate(std::size_t bytes) {
  const auto committed = round_up(std::max<std::size_t>(bytes, 1), page);
  const auto guard = blocks_.size() < guarded_blocks ? page : 0;
  const auto start = take(committed + guard, committed >= huge_page ? huge_page : page);
  if (start == 0) return nullptr;
  if (::mprotect(address(start), committed, PROT_READ | PROT_WRITE) != 0) {
    give_back(start, committed + guard);
    return nullptr;
  }
  // A kernel touches most of what it is given: fewer page faults. Only advice, may be refused.
  if (committed >= huge_page) ::madvise(address(start), committed, MADV_HUGEPAGE);
  blocks_.emplace(start, Block{committed + guard, committed});
  return reinterpret_cast<std::byte*>(start);
}

void Arena::release(std::byte* block) {
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
  if (found == blocks_.end()) return;
  const auto [start, extent] = *found;
  // DONTNEED returns the memory and makes the next owner find zeros, even if mprotect is refused
  // for want of mappings.
  ::madvise(address(start), extent.committed, MADV_DONTNEED);
  ::mprotect(address(start), extent.committed, PROT_NONE);
  blocks_.erase(found);
  give_back(start, extent.bytes);
}

std::byte* Arena::reserve(std::size_t bytes, std::size_t alignment) {
  const auto size = round_up(std::max<std::size_t>(bytes, 1), page);
  const auto start = take(size, std::max(alignment, page));
  if (start == 0) return nullptr;
  blocks_.emplace(start, Block{size, 0});
  return reinterpret_cast<std::byte*>(start);
}

void Arena::unreserve(std::byte* block) {
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
  if (found == blocks_.end()) return;
  const auto [start, extent] = *found;
  blocks_.erase(found);
  give_back(start, extent.bytes);
}

std::uintptr_t Arena::take(std::size_t bytes, std::size_t alignment) {
  const auto fits = [&](const auto& range) {
    return round_up(range.first, alignment) + bytes <= range.first + range.second;
  };
  auto found = std::find_if(free_.lower_bound(next_), free_.end(), fits);
  if (found == free_.end()) found = std::find_if(free_.begin(), free_.end(), fits);
  if (found == free_.end()) return 0;
  const auto [start, size] = *found;
  const auto aligned = round_up(start, alignment);
  free_.erase(found);
  if (aligned > start) free_.emplace(start, aligned - start);
  if (aligned + bytes < start + size)
    free_.emplace(aligned + bytes, start + size - aligned - bytes);
  next_ = aligned + bytes;
  return aligned;
}

void Arena::give_back(std::uintptr_t start, std::size_t bytes) {
  auto after = free_.lower_bound(start);
  if (after != free_.end() && after->first == start + bytes) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == start) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(start, bytes);
}

}  // namespace cass::hip
