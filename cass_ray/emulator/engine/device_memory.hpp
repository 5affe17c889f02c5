// The memory that kernels can address: who has which part of the aperture, and the host's memory
// that was registered beside it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "aperture.hpp"
#include "arena.hpp"

namespace cass::amdgpu {

// Thread-safe.
class DeviceMemory {
 public:
  static DeviceMemory& instance();

  // False where the aperture could not be had; then there is no memory.
  bool usable() const { return usable_; }

  // Zero-filled device memory, page-aligned; null when the range or the machine's is exhausted.
  std::byte* allocate(std::size_t bytes);

  // Memory that another process maps as well: the content of `file`, of at least `bytes`.
  std::byte* map(int file, std::size_t bytes);

  // Gives a block of either kind back.
  void release(std::byte* block);

  // The pages of [start, start + bytes) of the host, which `file` holds, at the addresses that they
  // have there. False where this process has something else at these addresses.
  bool register_host(std::uint64_t start, std::size_t bytes, int file);
  void unregister_host(std::uint64_t start);

  // Whether all of these bytes may be read and written now. Hold `in_use()` from the question to
  // the end of the access: nothing is given back meanwhile.
  bool holds(std::uint64_t address, std::size_t bytes) const;
  std::shared_lock<std::shared_mutex> in_use() const { return std::shared_lock(guard_); }

  // Whether the bytes are of registered host memory. For the handlers: no lock.
  bool is_registered(std::uint64_t address, std::size_t bytes) const;

 private:
  struct Range {
    std::uint64_t start;
    std::size_t bytes;
  };

  DeviceMemory();
  void publish(std::vector<Range> ranges);

  mutable std::shared_mutex guard_;
  bool usable_;
  Arena device_;
  Arena shared_;
  // Waves read it at any time, so that lists that were replaced stay: registering is rare.
  std::atomic<const std::vector<Range>*> registered_ = nullptr;
  std::vector<std::unique_ptr<const std::vector<Range>>> lists_;
};

}  // namespace cass::amdgpu
