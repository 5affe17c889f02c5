// A reserved range of addresses from which blocks of whole pages are handed out.
//
// Nothing of the range is accessible except handed-out blocks, so that a stray access, or one
// after release, meets an unmapped page. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace cass::amdgpu {

class Arena {
 public:
  // Hands out blocks of the range that starts at `first`; the caller has reserved it.
  Arena(std::uintptr_t first, std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A zero-filled block of at least `bytes`, page-aligned (2 MiB-aligned from 2 MiB on); null when
  // the range or the machine's memory is exhausted. An inaccessible page follows each block while
  // there are few of them.
  std::byte* allocate(std::size_t bytes);

  // Gives a block of allocate() back to the operating system.
  void release(std::byte* block);

  // A block that shows the content of `file`, at the end of which lies an inaccessible page.
  std::byte* map(int file, std::size_t bytes);

  // Whether all of these bytes are of one block.
  bool holds(std::uintptr_t address, std::size_t bytes) const;

  std::size_t blocks() const { return blocks_.size(); }

 private:
  struct Block {
    std::size_t bytes;  // reserved, guard page included
    std::size_t committed;  // accessible
    bool shared;  // of map()
  };

  std::uintptr_t take(std::size_t bytes, std::size_t alignment);
  void give_back(std::uintptr_t start, std::size_t bytes);

  std::uintptr_t first_;
  std::uintptr_t next_;  // where the search starts
  std::map<std::uintptr_t, std::size_t> free_;
  std::map<std::uintptr_t, Block> blocks_;
};

}  // namespace cass::amdgpu
