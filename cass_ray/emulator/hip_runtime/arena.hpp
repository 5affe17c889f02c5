// A reserved range of addresses from which blocks of whole pages are handed out.
//
// Nothing of the range is accessible except handed-out blocks, so that a stray access, or one
// after release, meets an unmapped page. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace cass::hip {

class Arena {
 public:
  // Reserves `bytes` of address space, less where the process may not have that much.
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A zero-filled block of at least `bytes`, page-aligned (2 MiB-aligned from 2 MiB on); null when
  // the range or the machine's memory is exhausted. An inaccessible page follows each block while
  // there are few of them.
  std::byte* allocate(std::size_t bytes);

  // Gives a block of allocate() back to the operating system.
  void release(std::byte* block);

  // Bytes of address space for the block, alignment gaps excluded.
  std::byte* reserve(std::size_t bytes, std::size_t alignment);
  void unreserve(std::byte* block);

  bool contains(const void* address) const {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    return value >= first_ && value < first_ + bytes_;
  }

 private:
  struct Block {
    std::size_t bytes;  // reserved, guard page included
    std::size_t committed;  // accessible
  };

  std::uintptr_t take(std::size_t bytes, std::size_t alignment);
  void give_back(std::uintptr_t start, std::size_t bytes);

  std::uintptr_t first_ = 0;
  std::size_t bytes_ = 0;
  std::uintptr_t next_ = 0;  // where the search starts: addresses are reused late
  std::map<std::uintptr_t, std::size_t> free_;
  std::map<std::uintptr_t, Block> blocks_;
};

}  // namespace cass::hip
