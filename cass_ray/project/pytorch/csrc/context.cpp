// What libtorch_cuda has for extensions: properties of devices.
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <hip/hip_runtime_api.h>

#include <map>
#include <mutex>

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

c10::Allocator* getCUDADeviceAllocator() { return c10::GetAllocator(c10::DeviceType::CUDA); }

}  // namespace at::cuda
