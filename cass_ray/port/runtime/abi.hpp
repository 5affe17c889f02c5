// The parts of CUDA's runtime ABI that differ from HIP's: structures by their layout in CUDA 13.0's
// driver_types.h (CUDA 12's where said). What is laid out alike (extents, pitched pointers, 3D copy
// parameters, dimensions) is used as HIP declares it. Layouts are checked by
// tests/port/test_abi.py.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../common/clusters.hpp"

#ifndef CASS_CUDA_VERSION
#define CASS_CUDA_VERSION 13
#endif

namespace cass::cuda {

struct FunctionAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout, clusterDimMustBeSet;
  int requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
  int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
  int reserved[16];
};

struct PointerAttributes {
  int type, device;
  void *devicePointer, *hostPointer;
#if CASS_CUDA_VERSION >= 13
  long reserved[8];
#endif
};

struct KernelNodeParameters {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};

struct MemsetParameters {
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } clusterDim;
    int is_updatable;
    hipEvent_t event;  // flags that follow it say what may only make it earlier
  } value;
};

enum LaunchAttributeId : int {
  attribute_cooperative = 2,
  attribute_cluster = 4,
  attribute_event = 7,  // when all blocks allow dependent kernels to start, or have ended
  attribute_start_event = 12,  // when all blocks have started
  attribute_updatable = 13,  // from kernels, as a node of a graph
};

// What a launch asks for by its attributes. The others are preferences.
struct LaunchRequests {
  bool cooperative = false, is_updatable = false;
  std::optional<Shape> cluster;
  std::vector<hipEvent_t> events;  // to be recorded behind the launch: no earlier than was asked
};

inline LaunchRequests requests_of(const LaunchAttribute* attributes, unsigned count) {
  LaunchRequests found;
  for (unsigned index = 0; index < count; ++index) {
    const auto& [id, pad, value] = attributes[index];
    const auto& cluster = value.clusterDim;
    if (id == attribute_cooperative) found.cooperative = value.cooperative != 0;
    if (id == attribute_cluster) found.cluster = Shape{cluster.x, cluster.y, cluster.z};
    if (id == attribute_event || id == attribute_start_event) found.events.push_back(value.event);
    if (id == attribute_updatable) found.is_updatable = value.is_updatable != 0;
  }
  return found;
}

struct LaunchConfiguration {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  hipStream_t stream;
  LaunchAttribute* attrs;
  unsigned numAttrs;
};

struct MemoryLocation {
  int type, id;
};

struct MemoryPoolProperties {
  int allocType, handleTypes;
  MemoryLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

union ResourceContents {
  void* array;
  struct {
    void* devPtr;
    hipChannelFormatDesc desc;
    std::size_t width, height, pitchInBytes;
  } pitch2D;
  int reserved[32];
};

struct ResourceDescription {
  int resType;
  ResourceContents res;
  unsigned flags;
};

struct TextureDescription {
  int addressMode[3], filterMode, readMode, sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

struct ResourceViewDescription {
  int format;
  std::size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
};

struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  std::size_t totalConstMem;
  int major, minor;
  std::size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3];
  int maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
  int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
  int asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  int globalL1CacheSupported, localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, pageableMemoryAccess, concurrentManagedAccess;
  int computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
  int unifiedFunctionPointers, deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
  unsigned gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported, reserved[56];
};

// cudaDeviceProp of CUDA 12, which HIP's own follows field by field up to its own additions.
constexpr std::size_t device_properties_12_bytes = offsetof(hipDeviceProp_tR0600, hipReserved);
static_assert(device_properties_12_bytes == 1032);

}  // namespace cass::cuda
