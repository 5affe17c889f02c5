// Memory pools of the stream-ordered allocator. A pool keeps no memory of its own: it counts.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace cass::hip {

class Pool {
 public:
  explicit Pool(const hipMemPoolProps& properties) : properties(properties) {}

  void add(std::size_t bytes);
  void remove(std::size_t bytes);

  hipError_t get(hipMemPoolAttr attribute, void* value);
  hipError_t set(hipMemPoolAttr attribute, const void* value);

  const hipMemPoolProps properties;
  // What a device may do with its memory; its own reads and writes.
  hipMemAccessFlags access(int device);
  hipError_t set_access(int device, hipMemAccessFlags flags);

 private:
  std::mutex guard_;
  std::map<int, hipMemAccessFlags> peers_;
  std::uint64_t used_ = 0;
  std::uint64_t most_used_ = 0;
  std::uint64_t release_threshold_ = 0;
  int reuse_[3] = {1, 1, 1};  // the three hipMemPoolReuse attributes; without effect
};

}  // namespace cass::hip
