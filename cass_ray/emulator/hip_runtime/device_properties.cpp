// Sources: the ISA manuals (LDS, wave and register limits), and what AMD's runtime 6.2 fills in for
// every device; device_kind.cpp has what differs.
#include "device_properties.hpp"

#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "device.hpp"
#include "device_kind.hpp"
#include "errors.hpp"
#include "memory.hpp"

namespace cass::hip {
namespace {

constexpr int registers_per_block = 65'536;
constexpr int timestamp_khz = 100'000;
constexpr int first_pci_bus = 3;
constexpr int image_width = 16'384;
constexpr int image_depth = 8'192;
constexpr int int_max = std::numeric_limits<int>::max();

// Its last byte is the device's ordinal.
void set_uuid(char (&bytes)[16], int device) {
  static constexpr char text[] = "cass-rdna3-0000";
  std::memcpy(bytes, text, sizeof text);
  bytes[15] = static_cast<char>('0' + device);
}

void set_images(hipDeviceProp_tR0600& p) {
  p.maxTexture1D = p.maxSurface1D = image_width;
  p.maxTexture1DLinear = p.maxTexture1DMipmap = int_max;
  for (int i = 0; i < 2; ++i) p.maxTexture2D[i] = p.maxSurface2D[i] = image_width;
  p.maxTexture3D[0] = p.maxSurface3D[0] = image_width;
  p.maxTexture3D[1] = p.maxSurface3D[1] = image_width;
  p.maxTexture3D[2] = p.maxSurface3D[2] = image_depth;
  p.maxTexture1DLayered[0] = p.maxSurface1DLayered[0] = image_width;
  p.maxTexture1DLayered[1] = p.maxSurface1DLayered[1] = image_depth;
  p.maxTexture2DLayered[0] = p.maxSurface2DLayered[0] = image_width;
  p.maxTexture2DLayered[1] = p.maxSurface2DLayered[1] = image_width;
  p.maxTexture2DLayered[2] = p.maxSurface2DLayered[2] = image_depth;
  p.textureAlignment = p.surfaceAlignment = 256;
  p.texturePitchAlignment = 256;
}

void set_features(hipDeviceProp_tR0600& p, const DeviceKind& kind) {
  p.arch.hasGlobalInt32Atomics = 1;
  p.arch.hasGlobalFloatAtomicExch = 1;
  p.arch.hasSharedInt32Atomics = 1;
  p.arch.hasSharedFloatAtomicExch = 1;
  p.arch.hasFloatAtomicAdd = 1;
  p.arch.hasGlobalInt64Atomics = 1;
  p.arch.hasSharedInt64Atomics = 1;
  p.arch.hasDoubles = 1;
  p.arch.hasWarpVote = 1;
  p.arch.hasWarpBallot = 1;
  p.arch.hasWarpShuffle = 1;
  p.arch.hasThreadFenceSystem = 1;
  p.arch.has3dGrid = 1;
  p.concurrentKernels = 1;
  p.canMapHostMemory = 1;
  p.cooperativeLaunch = 1;
  p.cooperativeMultiDeviceLaunch = 1;
  p.cooperativeMultiDeviceUnmatchedFunc = 1;
  p.cooperativeMultiDeviceUnmatchedGridDim = 1;
  p.cooperativeMultiDeviceUnmatchedBlockDim = 1;
  p.cooperativeMultiDeviceUnmatchedSharedMem = 1;
  p.hostNativeAtomicSupported = 1;
  p.isLargeBar = 1;
  p.ipcEventSupported = 0;
  p.streamPrioritiesSupported = 1;
  p.asyncEngineCount = 2;
  p.deviceOverlap = 1;
  p.unifiedAddressing = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.persistingL2CacheMaxSize = kind.l2_bytes;
}

hipDeviceProp_tR0600 make_properties(int device) {
  hipDeviceProp_tR0600 p{};
  const DeviceKind& kind = Device::at(device).kind;
  kind.name.copy(p.name, sizeof p.name - 1);
  kind.architecture.copy(p.gcnArchName, sizeof p.gcnArchName - 1);
  set_uuid(p.uuid.bytes, device);
  p.totalGlobalMem = Memory::instance().total(device);
  p.sharedMemPerBlock = kind.shared_bytes;
  p.sharedMemPerMultiprocessor =
      kind.shared_bytes * static_cast<std::size_t>(kind.multiprocessors);  // as AMD's runtime
  p.maxSharedMemoryPerMultiProcessor = kind.shared_bytes;
  p.regsPerBlock = p.regsPerMultiprocessor = registers_per_block;
  p.warpSize = kind.warp_size;
  p.memPitch = int_max;
  p.maxThreadsPerBlock = max_threads_per_block;
  for (int& size : p.maxThreadsDim) size = max_threads_per_block;
  p.maxGridSize[0] = int_max;
  p.maxGridSize[1] = p.maxGridSize[2] = 65'536;
  p.clockRate = kind.clock_khz;
  p.clockInstructionRate = timestamp_khz;
  p.memoryClockRate = kind.memory_clock_khz;
  p.memoryBusWidth = kind.memory_bus_bits;
  p.totalConstMem = int_max;
  p.major = kind.major;
  p.minor = kind.minor;
  p.multiProcessorCount = kind.multiprocessors;
  p.maxThreadsPerMultiProcessor = kind.threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = kind.threads_per_multiprocessor / max_threads_per_block;
  p.l2CacheSize = kind.l2_bytes;
  p.pciBusID = first_pci_bus + device;
  set_images(p);
  set_features(p, kind);
  return p;
}

}  // namespace

const hipDeviceProp_tR0600& device_properties(int device) {
  static const auto& all = *new std::vector<hipDeviceProp_tR0600>([] {
    std::vector<hipDeviceProp_tR0600> made;
    for (int each = 0; each < Device::count(); ++each) made.push_back(make_properties(each));
    return made;
  }());
  return all[static_cast<std::size_t>(device)];
}

hipError_t check_device(int device) {
  return device >= 0 && device < Device::count() ? hipSuccess : hipErrorInvalidDevice;
}

}  // namespace cass::hip

using namespace cass::hip;

namespace {

int clamped(std::size_t value) { return static_cast<int>(std::min<std::size_t>(value, int_max)); }

// Attributes that are one property each; false where `attribute` is none of them.
bool simple_attribute(int* value, hipDeviceAttribute_t attribute, const hipDeviceProp_tR0600& p) {
  switch (attribute) {
#define CASS_ATTRIBUTE(attribute, property) \
  case hipDeviceAttribute##attribute: *value = static_cast<int>(p.property); return true;
#include "device_attributes.inc"
#undef CASS_ATTRIBUTE
    default: return false;
  }
}

// The first of those that have the most of the properties that are asked for, which are not zero.
int closest_device(const hipDeviceProp_tR0600& wanted) {
  int best = 0, most = -1;
  for (int device = 0; device < Device::count(); ++device) {
    const auto& p = device_properties(device);
    int met = 0;
    if (wanted.major != 0) met += p.major >= wanted.major ? 1 : 0;
    if (wanted.minor != 0) met += p.minor >= wanted.minor ? 1 : 0;
    if (wanted.totalGlobalMem != 0) met += p.totalGlobalMem >= wanted.totalGlobalMem ? 1 : 0;
    if (wanted.sharedMemPerBlock != 0)
      met += p.sharedMemPerBlock >= wanted.sharedMemPerBlock ? 1 : 0;
    if (wanted.warpSize != 0) met += p.warpSize >= wanted.warpSize ? 1 : 0;
    if (wanted.multiProcessorCount != 0) {
      met += p.multiProcessorCount >= wanted.multiProcessorCount ? 1 : 0;
    }
    if (met > most) {
      best = device;
      most = met;
    }
  }
  return best;
}

}  // namespace

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  if (value == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  const auto& p = device_properties(device);
  if (simple_attribute(value, attribute, p)) return hipSuccess;
  switch (attribute) {
    case hipDeviceAttributeTotalConstantMemory:
      *value = clamped(p.totalConstMem);
      return hipSuccess;
    case hipDeviceAttributeTotalGlobalMem: *value = clamped(p.totalGlobalMem); return hipSuccess;
    case hipDeviceAttributeMaxPitch: *value = clamped(p.memPitch); return hipSuccess;
    case hipDeviceAttributeWallClockRate: *value = timestamp_khz; return hipSuccess;
    case hipDeviceAttributePhysicalMultiProcessorCount:
      *value = Device::at(device).kind.physical_compute_units;
      return hipSuccess;
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeFineGrainSupport:
    case hipDeviceAttributeHostRegisterSupported:
    case hipDeviceAttributeVirtualMemoryManagementSupported: *value = 1; return hipSuccess;
    case hipDeviceAttributeImageSupport: *value = p.major > 9 ? 1 : 0; return hipSuccess;
    case hipDeviceAttributeHdpMemFlushCntl:
    case hipDeviceAttributeHdpRegFlushCntl: {
      unsigned* none = nullptr;  // the result is a pointer for these two
      std::memcpy(value, &none, sizeof none);
      return hipSuccess;
    }
    default: return record(hipErrorInvalidValue);
  }
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  if (properties == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  *properties = device_properties(device);
  return hipSuccess;
}

hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties) {
  if (device == nullptr || properties == nullptr) return record(hipErrorInvalidValue);
  *device = closest_device(*properties);
  return hipSuccess;
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (name == nullptr || length <= 0) return record(hipErrorInvalidValue);
  std::snprintf(name, static_cast<std::size_t>(length), "%s", device_properties(device).name);
  return hipSuccess;
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (uuid == nullptr) return record(hipErrorInvalidValue);
  set_uuid(uuid->bytes, device);
  return hipSuccess;
}

hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (bytes == nullptr) return record(hipErrorInvalidValue);
  *bytes = Memory::instance().total(device);
  return hipSuccess;
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (major == nullptr || minor == nullptr) return record(hipErrorInvalidValue);
  *major = device_properties(device).major;
  *minor = device_properties(device).minor;
  return hipSuccess;
}

hipError_t hipDeviceGetPCIBusId(char* text, int length, int device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (text == nullptr || length <= 12) return record(hipErrorInvalidValue);
  std::snprintf(text, static_cast<std::size_t>(length), "%04x:%02x:%02x.0", 0,
                first_pci_bus + device, 0);
  return hipSuccess;
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* text) {
  if (device == nullptr || text == nullptr) return record(hipErrorInvalidValue);
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  unsigned function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 || domain != 0 ||
      slot != 0 || function != 0 ||
      check_device(static_cast<int>(bus) - first_pci_bus) != hipSuccess) {
    return record(hipErrorInvalidValue);
  }
  *device = static_cast<int>(bus) - first_pci_bus;
  return hipSuccess;
}
