// The device: properties in CUDA's layout, attributes, limits, versions.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "forward.hpp"

using namespace cass::cuda;

namespace {

// The compute capability that the program was compiled for, such as 80: what code that asks for the
// device's own expects. `cass run-binary` sets it.
int capability() {
  const char* text = std::getenv("CASS_PORT_CAPABILITY");
  const int value = text != nullptr ? std::atoi(text) : 0;
  return value > 0 ? value : 90;
}

constexpr int capability_major = 75, capability_minor = 76, warp_size = 10, cluster_launch = 120;
constexpr int threads_of_a_warp = 32;

// Devices have them from sm_90 on.
int has_clusters() { return capability() >= 90 ? 1 : 0; }

constexpr int limit_of_printing = 1;
std::atomic<std::size_t> printing_bytes = std::size_t{1} << 20U;  // CUDA's default

hipError_t properties(hipDeviceProp_tR0600* made, int device) {
  const auto result = hipGetDevicePropertiesR0600(made, device);
  made->major = capability() / 10;
  made->minor = capability() % 10;
  made->warpSize = threads_of_a_warp;
  made->clusterLaunch = has_clusters();
  made->sharedMemPerBlockOptin = made->sharedMemPerBlock;  // as in attributes.inc
  return result;
}

}  // namespace

FORWARD(cudaGetDeviceCount, hipGetDeviceCount, (int* count), (count))
FORWARD(cudaGetDevice, hipGetDevice, (int* device), (device))
FORWARD(cudaSetDevice, hipSetDevice, (int device), (device))
FORWARD(cudaInitDevice, hipSetDevice, (int device, unsigned, unsigned), (device))
FORWARD(cudaDeviceSynchronize, hipDeviceSynchronize, (), ())
FORWARD(cudaThreadSynchronize, hipDeviceSynchronize, (), ())
FORWARD(cudaDeviceReset, hipDeviceReset, (), ())
FORWARD(cudaSetDeviceFlags, hipSetDeviceFlags, (unsigned flags), (flags))
FORWARD(cudaGetDeviceFlags, hipGetDeviceFlags, (unsigned* flags), (flags))
FORWARD(cudaDeviceGetStreamPriorityRange, hipDeviceGetStreamPriorityRange,
        (int* least, int* greatest), (least, greatest))
FORWARD(cudaDeviceCanAccessPeer, hipDeviceCanAccessPeer, (int* can, int device, int peer),
        (can, device, peer))
FORWARD(cudaDeviceEnablePeerAccess, hipDeviceEnablePeerAccess, (int peer, unsigned flags),
        (peer, flags))
FORWARD(cudaDeviceDisablePeerAccess, hipDeviceDisablePeerAccess, (int peer), (peer))
FORWARD(cudaDeviceGetPCIBusId, hipDeviceGetPCIBusId, (char* text, int size, int device),
        (text, size, device))

// Preferences: a device may ignore them.
CUDA_API int cudaDeviceSetCacheConfig(int) { return success; }
CUDA_API int cudaDeviceSetSharedMemConfig(int) { return success; }
CUDA_API int cudaCtxResetPersistingL2Cache() { return success; }
CUDA_API int cudaProfilerStart() { return success; }
CUDA_API int cudaProfilerStop() { return success; }

CUDA_API int cudaDeviceGetCacheConfig(int* preference) {
  *preference = 0;
  return success;
}

CUDA_API int cudaRuntimeGetVersion(int* version) {
  *version = CASS_CUDA_VERSION * 1000;
  return success;
}

CUDA_API int cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

CUDA_API int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  int count = 0;
  if (hipGetDeviceCount(&count) != hipSuccess || device < 0 || device >= count) {
    return fail(hipErrorInvalidDevice);
  }
  switch (attribute) {
    case capability_major: *value = capability() / 10; return success;
    case capability_minor: *value = capability() % 10; return success;
    case warp_size: *value = threads_of_a_warp; return success;
    case cluster_launch: *value = has_clusters(); return success;
#define CASS_CUDA_ATTRIBUTE(number, name, target) \
  case number: return finish(hipDeviceGetAttribute(value, target, device));
#include "attributes.inc"
#undef CASS_CUDA_ATTRIBUTE
    default: break;
  }
  *value = 0;
  return success;
}

// CUDA's limits: stack and heap are HIP's, those of device-side launches are not. What kernels
// print goes to the host at once: a buffer of any size is enough.
CUDA_API int cudaDeviceSetLimit(int limit, std::size_t value) {
  constexpr int last_common = 2;
  if (limit == limit_of_printing) printing_bytes = value;
  if (limit > last_common || limit == limit_of_printing) return success;
  return finish(hipDeviceSetLimit(static_cast<hipLimit_t>(limit), value));
}

CUDA_API int cudaDeviceGetLimit(std::size_t* value, int limit) {
  if (value == nullptr) return fail(invalid_value);
  if (limit == limit_of_printing) {
    *value = printing_bytes;
    return success;
  }
  return finish(hipDeviceGetLimit(value, static_cast<hipLimit_t>(limit)));
}

CUDA_API int cudaChooseDevice(int* device, const void*) {
  *device = 0;
  return success;
}

#if CASS_CUDA_VERSION >= 13
CUDA_API int cudaGetDeviceProperties(DeviceProperties* made, int device) {
  hipDeviceProp_tR0600 given{};
  if (const auto result = properties(&given, device); result != hipSuccess) return finish(result);
  *made = {};
  std::memcpy(made->name, given.name, sizeof made->name);
  std::memcpy(made->uuid, given.uuid.bytes, sizeof made->uuid);
  std::memcpy(made->maxThreadsDim, given.maxThreadsDim, sizeof made->maxThreadsDim);
  std::memcpy(made->maxGridSize, given.maxGridSize, sizeof made->maxGridSize);
  std::memcpy(made->maxTexture2D, given.maxTexture2D, sizeof made->maxTexture2D);
  std::memcpy(made->maxTexture3D, given.maxTexture3D, sizeof made->maxTexture3D);
  made->maxTexture1D = given.maxTexture1D;
#define COPY(field) made->field = given.field
  COPY(totalGlobalMem), COPY(sharedMemPerBlock), COPY(regsPerBlock), COPY(warpSize);
  COPY(memPitch), COPY(maxThreadsPerBlock), COPY(totalConstMem), COPY(major), COPY(minor);
  COPY(textureAlignment), COPY(texturePitchAlignment), COPY(multiProcessorCount);
  COPY(integrated), COPY(canMapHostMemory), COPY(surfaceAlignment), COPY(concurrentKernels);
  COPY(ECCEnabled), COPY(pciBusID), COPY(pciDeviceID), COPY(pciDomainID), COPY(tccDriver);
  COPY(asyncEngineCount), COPY(unifiedAddressing), COPY(memoryBusWidth), COPY(l2CacheSize);
  COPY(persistingL2CacheMaxSize), COPY(maxThreadsPerMultiProcessor);
  COPY(streamPrioritiesSupported), COPY(globalL1CacheSupported), COPY(localL1CacheSupported);
  COPY(sharedMemPerMultiprocessor), COPY(regsPerMultiprocessor), COPY(managedMemory);
  COPY(isMultiGpuBoard), COPY(multiGpuBoardGroupID), COPY(hostNativeAtomicSupported);
  COPY(pageableMemoryAccess), COPY(concurrentManagedAccess), COPY(computePreemptionSupported);
  COPY(canUseHostPointerForRegisteredMem), COPY(cooperativeLaunch), COPY(sharedMemPerBlockOptin);
  COPY(pageableMemoryAccessUsesHostPageTables), COPY(directManagedMemAccessFromHost);
  COPY(maxBlocksPerMultiProcessor), COPY(accessPolicyMaxWindowSize);
  COPY(reservedSharedMemPerBlock), COPY(hostRegisterSupported), COPY(memoryPoolsSupported);
  COPY(clusterLaunch);
#undef COPY
  return success;
}
#else
CUDA_API int cudaGetDeviceProperties_v2(void* made, int device) {
  hipDeviceProp_tR0600 given{};
  if (const auto result = properties(&given, device); result != hipSuccess) return finish(result);
  std::memcpy(made, &given, device_properties_12_bytes);
  return success;
}
#endif
