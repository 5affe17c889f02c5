// What PyTorch's CUDA part has, and devices here have not: it says so by its name, where PyTorch's
// own library for CUDA would be called and miss a driver.
#include "refused.hpp"

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/CUDAGreenContext.h>
#include <ATen/cuda/MemPool.h>
#include <c10/cuda/CUDADeviceAssertionHost.h>
#include <c10/util/Exception.h>

#include <cstdlib>

namespace cass {

void refuse(const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, what, " is not there on the CPU backend's devices");
  std::abort();
}

}  // namespace cass

namespace at::cuda {

using cass::refuse;

CUDAGraph::CUDAGraph(bool) : capture_stream_(c10::cuda::getDefaultCUDAStream()) {
  refuse("a CUDA graph");
}
CUDAGraph::~CUDAGraph() = default;
MempoolId_t graph_pool_handle() { refuse("a memory pool of graphs"); }
bool is_graph_capture_active() { return false; }

MemPool::MemPool(std::shared_ptr<c10::cuda::CUDACachingAllocator::CUDAAllocator>, bool, bool,
                 bool) {
  refuse("a memory pool");
}
MemPool::~MemPool() = default;

std::unique_ptr<GreenContext> GreenContext::create(std::optional<uint32_t>, std::optional<uint32_t>,
                                                   std::optional<int32_t>,
                                                   std::optional<uint32_t>) {
  refuse("a green context");
}

}  // namespace at::cuda

namespace c10::cuda {

CUDAKernelLaunchRegistry& CUDAKernelLaunchRegistry::get_singleton_ref() {
  cass::refuse("a registry of launches (TORCH_USE_CUDA_DSA)");
}

}  // namespace c10::cuda
