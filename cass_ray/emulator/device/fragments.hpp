// Device memory as ROCm's runtime hands it out: up to 2 MiB are a part of a block of 2 MiB, more
// are whole blocks (`MemoryRegion::BlockAllocator` of ROCr). What a kernel reads or writes beside
// its memory mostly lies in the same block, as on a card, and does not meet an unmapped page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace cass::device {

// Thread-safe.
class Fragments {
 public:
  // Whether so many bytes are a part of a block, not blocks of their own.
  static bool shares_block(std::size_t bytes);

  // Zero-filled, page-aligned; null when there is no more.
  std::byte* allocate(std::size_t bytes);

  // Gives back what allocate() returned.
  void release(std::byte* start);

  // False where some of these bytes are of a block but not of one part of it that is in use.
  bool may_hold(std::uint64_t address, std::size_t bytes) const;

 private:
  using Address = std::uintptr_t;

  // What DeviceMemory is to have back, or null. Not under `guard_`: copies hold the memory in use
  // when they ask may_hold().
  std::byte* forget(std::byte* start);

  mutable std::mutex guard_;
  std::map<Address, std::size_t> sizes_;  // of the parts in use
  std::map<Address, std::size_t> blocks_;  // how many parts of each are in use
  Address next_ = 0;  // parts of the last block that nobody has had yet
  Address end_ = 0;
};

}  // namespace cass::device
