// The allocations that kernels may use, for the checking mode.
#pragma once

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <vector>

#include "engine.hpp"

namespace cass::amdgpu {

class MemoryRegistry {
 public:
  struct Allocation {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    AllocationKind kind = AllocationKind::device;
    bool freed = false;
    std::vector<bool> initialized;  // by byte; empty: all of it
    bool contains(std::uint64_t address, std::uint64_t count) const {
      return address >= start && count <= size && address - start <= size - count;
    }
  };

  static MemoryRegistry& instance();

  void add(std::uint64_t start, std::uint64_t size, AllocationKind kind);
  void remove(std::uint64_t start);
  void mark(std::uint64_t start, std::uint64_t size);

  // With `mutex` held: the allocation, live or freed, that holds the address; null if there is
  // none.
  Allocation* find(std::uint64_t address);
  // With `mutex` held: the live one that ends nearest below the address, or starts nearest above.
  const Allocation* nearest(std::uint64_t address) const;

  std::shared_mutex mutex;

 private:
  void forget_overlapping(std::uint64_t start, std::uint64_t size);
  std::map<std::uint64_t, Allocation> allocations_;
};

}  // namespace cass::amdgpu
