// Launches, attributes of kernels, occupancy.
#include <cstdint>
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

int launch(hipFunction_t kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
           unsigned shared_bytes, hipStream_t stream, void** parameters, void** given) {
  if (kernel == nullptr) return finish(hipErrorInvalidHandle);
  Extra extra(given);
  return finish(hipModuleLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0], block[1],
                                      block[2], shared_bytes, stream, parameters, extra.list()));
}

int launch_cooperative(hipFunction_t kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
                       unsigned shared_bytes, hipStream_t stream, void** parameters) {
  if (kernel == nullptr) return finish(hipErrorInvalidHandle);
  return finish(hipModuleLaunchCooperativeKernel(kernel, grid[0], grid[1], grid[2], block[0],
                                                 block[1], block[2], shared_bytes, stream,
                                                 parameters));
}

enum FunctionAttribute : int {
  ptx_version = 5,
  binary_version = 6,
  largest_dynamic_shared = 8,
  carveout = 9,
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
  const auto [cooperative, clusters] =
      cass::cuda::requests_of(given->attributes, given->attribute_count);
  if (clusters) return unsupported("a cluster of more than one block");
  if (cooperative) {
    return launch_cooperative(kernel, given->grid, given->block, given->shared_bytes, given->stream,
                              parameters);
  }
  return launch(kernel, given->grid, given->block, given->shared_bytes, given->stream, parameters,
                extra);
}

CUDA_API int cuFuncGetAttribute(int* value, int attribute, hipFunction_t kernel) {
  if (value == nullptr) return invalid_value;
  if (attribute == ptx_version || attribute == binary_version) {
    *value = capability_of(kernel);
    return success;
  }
  return finish(hipFuncGetAttribute(value, static_cast<hipFunction_attribute>(attribute), kernel));
}

// Every kernel may have as much dynamic shared memory as is left.
CUDA_API int cuFuncSetAttribute(hipFunction_t kernel, int attribute, int value) {
  if (attribute == carveout) return success;
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
