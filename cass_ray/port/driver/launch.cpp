// Launches, attributes of kernels, occupancy.
#include <cstdint>
#include <optional>
#include <vector>

#include "../runtime/abi.hpp"
#include "module.hpp"
#include "result.hpp"

using namespace cass::cuda::driver;

namespace {

// CUlaunchConfig of cuda.h.
struct LaunchConfiguration {
  unsigned grid[3], block[3], shared_bytes;
  hipStream_t stream;
  cass::cuda::LaunchAttribute* attributes;
  unsigned attribute_count;
};

// The list that may stand for the parameters: CUDA ends it with 0, HIP with 3.
class Extra {
 public:
  explicit Extra(void** given) {
    if (given == nullptr) return;
    for (; *given != nullptr; given += 2) list_.insert(list_.end(), {given[0], given[1]});
    list_.push_back(HIP_LAUNCH_PARAM_END);
  }
  void** list() { return list_.empty() ? nullptr : list_.data(); }

 private:
  std::vector<void*> list_;
};

using cass::cuda::BlockLaunch;
using cass::cuda::ClusterLaunch;
using cass::cuda::earlier_fault;
using cass::cuda::Shape;

Shape shape_of(const unsigned (&given)[3]) { return {given[0], given[1], given[2]}; }

// The clusters of a launch; none where the kernel cannot tell them from blocks.
std::optional<Shape> cluster_of(const LoadedCluster* found, const std::optional<Shape>& asked) {
  if (found == nullptr || asked) return found == nullptr ? std::nullopt : asked;
  const auto [x, y, z] = found->kernel.shape;
  return found->kernel.is_fixed() ? std::optional(Shape{x, y, z}) : std::nullopt;
}

// `given` in place of `parameters`: the arguments in a buffer, as cuLaunchKernel's `extra` has
// them.
int launch_in_clusters(const LoadedCluster& found, const BlockLaunch& blocks, bool cooperative,
                       hipStream_t stream, void** parameters, void** given) {
  if (const int fault = earlier_fault(); fault != success) return fault;
  ClusterLaunch made;
  if (const int result = in_workgroups(found.kernel, blocks, made); result != success) {
    return result == cass::cuda::invalid_configuration ? invalid_value : result;
  }
  std::vector<char> packed;
  std::vector<void*> list;
  if (given != nullptr) {
    const void* buffer = nullptr;
    std::size_t bytes = 0;
    for (; *given != nullptr; given += 2) {
      if (*given == HIP_LAUNCH_PARAM_BUFFER_POINTER) buffer = given[1];
      if (*given == HIP_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(given[1]);
    }
    packed = made.with_words(found.kernel, buffer, bytes);
    bytes = packed.size();
    list = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
            HIP_LAUNCH_PARAM_END};
    return finish(hipModuleLaunchKernel(
        found.launched, made.grid.x, made.grid.y, made.grid.z, made.workgroup.x, 1, 1,
        static_cast<unsigned>(made.shared_bytes), stream, nullptr, list.data()));
  }
  void** all = made.with_words(found.kernel, parameters);
  const auto bytes = static_cast<unsigned>(made.shared_bytes);
  const auto& grid = made.grid;
  return finish(cooperative
                    ? hipModuleLaunchCooperativeKernel(found.launched, grid.x, grid.y, grid.z,
                                                       made.workgroup.x, 1, 1, bytes, stream, all)
                    : hipModuleLaunchKernel(found.launched, grid.x, grid.y, grid.z,
                                            made.workgroup.x, 1, 1, bytes, stream, all, nullptr));
}

int launch(hipFunction_t kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
           unsigned shared_bytes, hipStream_t stream, void** parameters, void** given) {
  if (const int fault = earlier_fault(); fault != success) return fault;
  if (kernel == nullptr) return finish(hipErrorInvalidHandle);
  const auto* found = loaded_cluster(kernel);
  if (const auto cluster = cluster_of(found, {})) {
    const BlockLaunch blocks{shape_of(grid), shape_of(block), *cluster, shared_bytes};
    return launch_in_clusters(*found, blocks, false, stream, parameters, given);
  }
  Extra extra(given);
  return finish(hipModuleLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0], block[1],
                                      block[2], shared_bytes, stream, parameters, extra.list()));
}

int launch_cooperative(hipFunction_t kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
                       unsigned shared_bytes, hipStream_t stream, void** parameters) {
  if (const int fault = earlier_fault(); fault != success) return fault;
  if (kernel == nullptr) return finish(hipErrorInvalidHandle);
  const auto* found = loaded_cluster(kernel);
  if (const auto cluster = cluster_of(found, {})) {
    const BlockLaunch blocks{shape_of(grid), shape_of(block), *cluster, shared_bytes};
    return launch_in_clusters(*found, blocks, true, stream, parameters, nullptr);
  }
  return finish(hipModuleLaunchCooperativeKernel(kernel, grid[0], grid[1], grid[2], block[0],
                                                 block[1], block[2], shared_bytes, stream,
                                                 parameters));
}

int launch(const LaunchConfiguration& given, const cass::cuda::LaunchRequests& asked,
           hipFunction_t kernel, void** parameters, void** extra) {
  const auto& [grid, block, shared_bytes, stream, attributes, count] = given;
  if (asked.cooperative && extra != nullptr) {
    return unsupported("a cooperative launch with arguments in a buffer");
  }
  const auto* found = kernel != nullptr ? loaded_cluster(kernel) : nullptr;
  if (const auto cluster = cluster_of(found, asked.cluster)) {
    const BlockLaunch blocks{shape_of(grid), shape_of(block), *cluster, shared_bytes};
    return launch_in_clusters(*found, blocks, asked.cooperative, stream, parameters, extra);
  }
  return asked.cooperative
             ? launch_cooperative(kernel, grid, block, shared_bytes, stream, parameters)
             : launch(kernel, grid, block, shared_bytes, stream, parameters, extra);
}

enum FunctionAttribute : int {
  ptx_version = 5,
  binary_version = 6,
  largest_dynamic_shared = 8,
  carveout = 9,
  cluster_must_be_set = 10,
  first_cluster_size = 11,
  last_cluster_size = 13,
  more_blocks_allowed = 14,
  cluster_scheduling = 15,
};

}  // namespace

CUDA_API int cuLaunchKernel(hipFunction_t kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, hipStream_t stream, void** parameters,
                            void** extra) {
  return launch(kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream,
                parameters, extra);
}

CUDA_API int cuLaunchCooperativeKernel(hipFunction_t kernel, unsigned grid_x, unsigned grid_y,
                                       unsigned grid_z, unsigned block_x, unsigned block_y,
                                       unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                       void** parameters) {
  return launch_cooperative(kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                            shared_bytes, stream, parameters);
}

CUDA_API int cuLaunchKernelEx(const LaunchConfiguration* given, hipFunction_t kernel,
                              void** parameters, void** extra) {
  if (given == nullptr) return invalid_value;
  const auto asked = cass::cuda::requests_of(given->attributes, given->attribute_count);
  if (asked.is_updatable) return unsupported("a node that kernels can update");
  int result = launch(*given, asked, kernel, parameters, extra);
  for (const auto event : asked.events) {
    if (result == success) result = finish(hipEventRecord(event, given->stream));
  }
  return result;
}

CUDA_API int cuFuncGetAttribute(int* value, int attribute, hipFunction_t kernel) {
  if (value == nullptr) return invalid_value;
  if (attribute == ptx_version || attribute == binary_version) {
    *value = capability_of(kernel);
    return success;
  }
  if (attribute >= cluster_must_be_set && attribute <= last_cluster_size) {
    const auto* found = loaded_cluster(kernel);
    const auto at = static_cast<std::size_t>(attribute - first_cluster_size);
    const bool asks = attribute == cluster_must_be_set;
    *value = found == nullptr ? 0
             : asks           ? static_cast<int>(found->kernel.is_fixed())
                              : static_cast<int>(found->kernel.shape[at]);
    return success;
  }
  return finish(hipFuncGetAttribute(value, static_cast<hipFunction_attribute>(attribute), kernel));
}

// Every kernel may have as much dynamic shared memory as is left.
CUDA_API int cuFuncSetAttribute(hipFunction_t kernel, int attribute, int value) {
  if (attribute == carveout || attribute == more_blocks_allowed ||
      attribute == cluster_scheduling) {
    return success;
  }
  if (attribute != largest_dynamic_shared) {
    return unsupported("an attribute of cuFuncSetAttribute");
  }
  int largest = 0;
  const int result = cuFuncGetAttribute(&largest, largest_dynamic_shared, kernel);
  return result != success ? result : value <= largest ? success : invalid_value;
}

CUDA_API int cuFuncSetCacheConfig(hipFunction_t, int) { return success; }
CUDA_API int cuFuncSetSharedMemConfig(hipFunction_t, int) { return success; }

FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor,
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
        (int* blocks, hipFunction_t kernel, int block_size, std::size_t shared_bytes),
        (blocks, kernel, block_size, shared_bytes))

CUDA_API int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t kernel,
                                              std::size_t (*bytes_of)(int), std::size_t bytes,
                                              int limit) {
  if (bytes_of != nullptr) return unsupported("shared memory that depends on the block's size");
  return finish(hipModuleOccupancyMaxPotentialBlockSize(grid, block, kernel, bytes, limit));
}
