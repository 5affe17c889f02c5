// Puts HIP's runtime in the place of CUDA's in a running PyTorch: memory, devices, hooks.
#include "allocator.hpp"
#include "generators.hpp"
#include "operators.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/impl/CUDAGuardImpl.h>
#include <hip/hip_runtime_api.h>

#include <sstream>
#include <string>

namespace {

struct Hooks final : at::CUDAHooksInterface {
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool hasROCM() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return c10::cuda::device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex device) const override {
    return c10::cuda::hasPrimaryContext(device);
  }
  c10::DeviceIndex current_device() const override { return c10::cuda::current_device(); }
  c10::DeviceIndex deviceCount() const override { return c10::cuda::device_count(); }
  int getNumGPUs() const override { return c10::cuda::device_count(); }
  bool isPinnedPtr(const void*) const override { return false; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  c10::Allocator* getCUDADeviceAllocator() const override {
    return c10::GetAllocator(c10::DeviceType::CUDA);
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return at::cuda::detail::getDefaultCUDAGenerator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return cass::generator_for_python(device);
  }
  void deviceSynchronize(c10::DeviceIndex) const override { c10::cuda::device_synchronize(); }
  std::string showConfig() const override { return "HIP on the CPU backend"; }
};

// The least priority: libtorch_cuda, where there is one, registers its own later without a warning.
const c10::Registerer<std::string, std::unique_ptr<at::CUDAHooksInterface>, at::CUDAHooksArgs>
    registered("CUDAHooks", c10::REGISTRY_FALLBACK, at::CUDAHooksRegistry(),
               [](at::CUDAHooksArgs) -> std::unique_ptr<at::CUDAHooksInterface> {
                 return std::make_unique<Hooks>();
               });

// PyTorch keeps the hooks that it found when it was first asked: now, before libtorch_cuda comes.
[[maybe_unused]] const at::CUDAHooksInterface& kept = at::detail::getCUDAHooks();

}  // namespace

// Called once, after PyTorch is loaded and before a tensor is on a device.
extern "C" __attribute__((visibility("default"))) void cass_torch_start() {
  c10::SetAllocator(c10::DeviceType::CUDA, &cass::device_allocator(), 255);
  static const c10::cuda::impl::CUDAGuardImpl guard;
  c10::impl::DeviceGuardImplRegistrar registrar(c10::DeviceType::CUDA, &guard);
  cass::take_over_operators();
}

extern "C" __attribute__((visibility("default"))) void cass_torch_take_over(const char* space) {
  cass::take_over_operators_of(space);
}

// What Python's side asks, see startup/cass_torch_device.py. -1 is the current device.
extern "C" __attribute__((visibility("default"))) int cass_torch_device_count() {
  return c10::cuda::device_count();
}

extern "C" __attribute__((visibility("default"))) int cass_torch_current_device() {
  int device = 0;
  return hipGetDevice(&device) == hipSuccess ? device : -1;
}

// The device before; -2 where there is no such device.
extern "C" __attribute__((visibility("default"))) int cass_torch_exchange_device(int device) {
  const int before = cass_torch_current_device();
  return device < 0 || hipSetDevice(device) == hipSuccess ? before : -2;
}

extern "C" __attribute__((visibility("default"))) void cass_torch_synchronize() {
  (void)hipDeviceSynchronize();
}

// Bytes of the current device; whether they are known.
extern "C" __attribute__((visibility("default"))) bool cass_torch_memory(size_t* free,
                                                                         size_t* total) {
  return hipMemGetInfo(free, total) == hipSuccess;
}

// A JSON object; the text is valid until the next call of the thread.
extern "C" __attribute__((visibility("default"))) const char* cass_torch_properties(int device) {
  thread_local std::string text;
  const hipDeviceProp_t& found =
      *at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(device));
  std::ostringstream out;
  out << "{\"name\": \"" << found.name << "\", \"gcnArchName\": \"" << found.gcnArchName
      << "\", \"major\": " << found.major << ", \"minor\": " << found.minor
      << ", \"multi_processor_count\": " << found.multiProcessorCount
      << ", \"warp_size\": " << found.warpSize << ", \"total_memory\": " << found.totalGlobalMem
      << ", \"max_threads_per_multi_processor\": " << found.maxThreadsPerMultiProcessor
      << ", \"shared_memory_per_block\": " << found.sharedMemPerBlock << "}";
  text = out.str();
  return text.c_str();
}
