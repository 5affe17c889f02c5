// Kernels whose workgroups are clusters of blocks (cass_ray/lift/lowering/clusters.py): how they
// are launched.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cass::cuda {

struct ClusterKernel {
  std::string symbol;             // in the lifted code; empty where it could not be lifted
  std::string failure;            // why
  unsigned parameters = 0;        // without the one that the launch adds
  unsigned words_offset = 0;      // of that one, among the bytes of the arguments
  unsigned shared_bytes = 0;      // of a block, without what the launch adds
  std::array<unsigned, 3> shape{};  // blocks of a cluster; zeros: the launch says

  bool is_fixed() const { return shape[0] != 0; }
};

// By name; the text is what cass_ray/port/lifting.py writes.
std::map<std::string, ClusterKernel> read_cluster_kernels(std::string_view text);

struct Shape {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// A launch in blocks, as CUDA has it.
struct BlockLaunch {
  Shape grid, block, cluster;
  std::size_t shared_bytes;  // added by the launch
};

// The same launch in workgroups.
struct ClusterLaunch {
  Shape grid, workgroup;
  std::size_t shared_bytes = 0;
  std::array<std::uint32_t, 7> words{};  // the added argument

  // The arguments with the added one behind them, which stay good as long as this does.
  void** with_words(const ClusterKernel& kernel, void** given);
  // The same for arguments in one buffer.
  std::vector<char> with_words(const ClusterKernel& kernel, const void* buffer, std::size_t bytes);

 private:
  std::vector<void*> arguments_;
};

// A code of CUDA's, success if `made` can be launched; tells the user what is too large for AMD.
int in_workgroups(const ClusterKernel& kernel, const BlockLaunch& given, ClusterLaunch& made);

// Whether a cluster is no larger than a workgroup can be.
bool fits(const ClusterKernel& kernel, const BlockLaunch& given);

// The most blocks of a cluster that a launch may have, 0 if not even one.
unsigned largest_cluster(const ClusterKernel& kernel, const Shape& block, std::size_t shared_bytes);

// Multiprocessors of the device.
unsigned multiprocessors();

}  // namespace cass::cuda
