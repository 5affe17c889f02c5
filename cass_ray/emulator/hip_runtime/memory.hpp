// What memory the program has: device, pinned, managed and registered, by address.
//
// Device memory is the device process's: here its addresses are only taken, and nothing is behind
// them. Memory of the other kinds is mapped by both processes at one address.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "../engine/aperture.hpp"

namespace cass::hip {

class Pool;

enum class MemoryKind : std::uint8_t { device, pinned, managed, registered, variable, array };

struct Allocation {
  std::byte* base = nullptr;
  std::size_t size = 0;  // bytes, as asked for
  MemoryKind kind = MemoryKind::device;
  int device = 0;        // the ordinal of the one that it was asked of
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
  hipError_t allocate(std::size_t bytes, MemoryKind kind, int device, unsigned flags,
                      void** address, Pool* pool = nullptr);

  // Releases the allocation that starts at `address`; hipErrorInvalidValue where there is none.
  hipError_t release(void* address);

  // Releases everything that allocate() gave out for a device: hipDeviceReset.
  void release_all(int device);

  // Memory that is not ours: hipHostRegister, variables of a module. The pages of the former
  // become memory of both processes; hipErrorOutOfMemory where they cannot.
  hipError_t adopt(void* address, std::size_t bytes, MemoryKind kind, int device, unsigned flags);
  hipError_t abandon(void* address, MemoryKind kind);

  // The allocation that `address` lies in.
  std::optional<Allocation> find(const void* address) const;

  // Whether `address` is in the device's range, allocated or not.
  static bool in_device_range(const void* address) { return amdgpu::in_device_range(address); }

  // Whether the device process has the memory at `address`, in an allocation or a variable.
  bool is_remote(const void* address) const { return in_device_range(address) || find(address); }

  // Bytes that a device has, and that it has left.
  std::size_t total(int device) const { return amounts_[static_cast<std::size_t>(device)].total; }
  std::size_t available(int device) const;

 private:
  Memory();
  void remember(const Allocation& allocation);

  mutable std::shared_mutex guard_;
  std::map<std::uintptr_t, Allocation> allocations_;  // by start
  struct Amounts {
    std::size_t total;
    std::size_t used = 0;  // device memory
    std::size_t left() const { return total - std::min(used, total); }
  };
  std::vector<Amounts> amounts_;  // by device
  std::uint64_t next_id_ = 1;
};

}  // namespace cass::hip
