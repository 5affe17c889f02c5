#include "arena.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace cass::amdgpu {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

// Each guarded block costs the kernel two mappings, of which a process may have 65,530.
constexpr std::size_t guarded_blocks = 8192;

// Addresses are reused late, so that what is used after its release is found, but not without end:
// the kernel's tables for addresses that were in use once stay.
constexpr std::size_t late_reuse = std::size_t{16} << 30;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void* address(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

}  // namespace

Arena::Arena(std::uintptr_t first, std::size_t bytes) : first_(first), next_(first) {
  free_.emplace(first, bytes);
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
  blocks_.emplace(start, Block{committed + guard, committed, false});
  return reinterpret_cast<std::byte*>(start);
}

void Arena::release(std::byte* block) {
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
  if (found == blocks_.end()) return;
  const auto [start, extent] = *found;
  bool free = true;
  if (extent.shared) {
    // Refused for want of mappings, the file is still there: nobody may be given these addresses.
    free = ::mmap(address(start), extent.committed, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
  } else {
    // DONTNEED returns the memory and makes the next owner find zeros, even if mprotect is refused
    // for want of mappings.
    ::madvise(address(start), extent.committed, MADV_DONTNEED);
    ::mprotect(address(start), extent.committed, PROT_NONE);
  }
  blocks_.erase(found);
  if (free) give_back(start, extent.bytes);
}

std::byte* Arena::map(int file, std::size_t bytes) {
  const auto size = round_up(std::max<std::size_t>(bytes, 1), page);
  const auto start = take(size + page, size >= huge_page ? huge_page : page);
  if (start == 0) return nullptr;
  if (::mmap(address(start), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
      MAP_FAILED) {
    give_back(start, size + page);
    return nullptr;
  }
  blocks_.emplace(start, Block{size + page, size, true});
  return reinterpret_cast<std::byte*>(start);
}

bool Arena::holds(std::uintptr_t address, std::size_t bytes) const {
  auto found = blocks_.upper_bound(address);
  if (found == blocks_.begin()) return false;
  --found;
  const auto offset = address - found->first;
  return offset <= found->second.committed && bytes <= found->second.committed - offset;
}

std::uintptr_t Arena::take(std::size_t bytes, std::size_t alignment) {
  if (next_ - first_ > late_reuse) next_ = first_;
  // Of the range that holds next_ the part above it.
  const auto place = [&](const auto& range, std::uintptr_t from) {
    return round_up(std::max(range.first, from), alignment);
  };
  const auto search = [&](auto at, std::uintptr_t from) {
    return std::find_if(at, free_.end(), [&](const auto& range) {
      return place(range, from) + bytes <= range.first + range.second;
    });
  };
  auto above = free_.upper_bound(next_);
  if (above != free_.begin()) --above;
  std::uintptr_t from = next_;
  auto found = search(above, from);
  if (found == free_.end()) {
    from = 0;
    found = search(free_.begin(), from);
  }
  if (found == free_.end()) return 0;
  const auto [start, size] = *found;
  const auto aligned = place(*found, from);
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

}  // namespace cass::amdgpu
