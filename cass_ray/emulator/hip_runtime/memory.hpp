// What memory the program has: device, pinned, managed and registered, by address.
//
// Device pointers are host pointers (see engine.hpp), but each kind lies in a range of its own.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "arena.hpp"

namespace cass::hip {

class Pool;

enum class MemoryKind : std::uint8_t { device, pinned, managed, registered, variable, array };

struct Allocation {
  std::byte* base = nullptr;
  std::size_t size = 0;  // bytes, as asked for
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;    // of hipHostMalloc, hipHostRegister, hipMallocManaged
  Pool* pool = nullptr;  // of hipMallocAsync
  std::uint64_t id = 0;  // unique in the process

  bool holds(const void* address, std::size_t bytes) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - base);
    return offset <= size && bytes <= size - offset;
  }
  bool on_device() const { return kind != MemoryKind::pinned && kind != MemoryKind::registered; }
};

class Memory {
 public:
  static Memory& instance();

  // Device, pinned or managed memory. hipErrorOutOfMemory beyond the device's memory.
  hipError_t allocate(std::size_t bytes, MemoryKind kind, unsigned flags, void** address,
                      Pool* pool = nullptr);

  // Releases the allocation that starts at `address`; hipErrorInvalidValue where there is none.
  hipError_t release(void* address);

  // Releases everything that allocate() gave out: hipDeviceReset.
  void release_all();

  // Memory that is not ours: hipHostRegister, variables of a module.
  hipError_t adopt(void* address, std::size_t bytes, MemoryKind kind, unsigned flags);
  hipError_t abandon(void* address, MemoryKind kind);

  // The allocation that `address` lies in.
  std::optional<Allocation> find(const void* address) const;

  // Whether `address` is in the device's range, allocated or not.
  bool in_device_range(const void* address) const { return device_.contains(address); }

  std::size_t total() const { return total_; }
  std::size_t available() const;

 private:
  Memory();
  Arena& arena(MemoryKind kind);
  void remember(const Allocation& allocation);

  mutable std::shared_mutex guard_;
  Arena device_;
  Arena host_;
  std::map<std::uintptr_t, Allocation> allocations_;  // by start
  std::size_t total_;
  std::size_t used_ = 0;  // device memory
  std::uint64_t next_id_ = 1;
};

}  // namespace cass::hip
