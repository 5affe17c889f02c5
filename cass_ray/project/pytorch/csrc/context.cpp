// What libtorch_cuda has for extensions: properties of devices.
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/PeerToPeerAccess.h>
#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <hip/hip_runtime_api.h>
#include <ATen/cuda/detail/IndexUtils.cuh>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace at::cuda {

hipDeviceProp_t* getDeviceProperties(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, hipDeviceProp_t> known;
  const std::lock_guard<std::mutex> lock(mutex);
  if (device < 0) device = c10::cuda::current_device();
  const auto [place, is_new] = known.try_emplace(device);
  if (is_new) C10_CUDA_CHECK(hipGetDeviceProperties(&place->second, device));
  return &place->second;
}

hipDeviceProp_t* getCurrentDeviceProperties() {
  return getDeviceProperties(c10::cuda::current_device());
}

int warp_size() { return getCurrentDeviceProperties()->warpSize; }

bool canDeviceAccessPeer(c10::DeviceIndex device, c10::DeviceIndex peer) {
  int can = 0;
  C10_CUDA_CHECK(hipDeviceCanAccessPeer(&can, device, peer));
  return can != 0;
}

bool get_p2p_access(c10::DeviceIndex device, c10::DeviceIndex peer) {
  return c10::cuda::get_p2p_access(device, peer);
}

bool get_fabric_access(c10::DeviceIndex device) { return c10::cuda::get_fabric_access(device); }

// Nothing that a program computes depends on how long a device waits.
void sleep(int64_t) {}
void flush_icache() {}

c10::Allocator* getCUDADeviceAllocator() { return c10::GetAllocator(c10::DeviceType::CUDA); }

namespace detail {

// Whether two indices may be of the same element: false only if each dimension, in the order of
// strides, steps over all of those before it.
bool maybeOverlappingIndices(const at::TensorBase& tensor) {
  std::vector<std::pair<int64_t, int64_t>> dimensions;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1) dimensions.emplace_back(tensor.stride(i), tensor.size(i));
  }
  std::sort(dimensions.begin(), dimensions.end());
  int64_t reach = 0;  // of the last element of the dimension before
  for (const auto& [stride, size] : dimensions) {
    if (stride <= reach) return true;
    reach = (size - 1) * stride;
  }
  return false;
}

}  // namespace detail

}  // namespace at::cuda
