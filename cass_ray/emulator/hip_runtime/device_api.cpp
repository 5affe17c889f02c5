// Entry points for the device, its settings, and peers.
#include <hip/hip_runtime_api.h>

#include "capture.hpp"
#include "context.hpp"
#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "memory.hpp"

using namespace cass::hip;

namespace {

constexpr std::size_t largest_stack_bytes = 131'056;  // 128 KiB - 16, see hipLimit_t

bool are_peers(int device, int peer) {
  return check_device(device) == hipSuccess && check_device(peer) == hipSuccess && device != peer;
}

}  // namespace

hipError_t hipInit(unsigned flags) {
  return record(flags == 0 ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipDriverGetVersion(int* version) {
  if (version == nullptr) return record(hipErrorInvalidValue);
  *version = HIP_VERSION;
  return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

hipError_t hipGetDeviceCount(int* count) {
  if (count == nullptr) return record(hipErrorInvalidValue);
  *count = Device::count();
  return hipSuccess;
}

hipError_t hipGetDevice(int* device) {
  if (device == nullptr) return record(hipErrorInvalidValue);
  *device = Device::current().ordinal;
  return hipSuccess;
}

hipError_t hipSetDevice(int device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  use_primary_context(device);
  return hipSuccess;
}

hipError_t hipSetValidDevices(int* devices, int length) {
  if (devices == nullptr && length != 0) return record(hipErrorInvalidValue);
  for (int index = 0; index < length; ++index) {
    if (check_device(devices[index]) != hipSuccess) return record(hipErrorInvalidDevice);
  }
  return hipSuccess;
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  if (device == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(ordinal); error != hipSuccess) return record(error);
  *device = ordinal;
  return hipSuccess;
}

hipError_t hipDeviceSynchronize() {
  if (const auto error = Capture::check_unsafe_call(); error != hipSuccess) return record(error);
  return record(Device::current().synchronize());
}

hipError_t hipDeviceReset() {
  Device& device = Device::current();
  const auto result = device.reset();
  Memory::instance().release_all(device.ordinal);
  return record(result);
}

hipError_t hipSetDeviceFlags(unsigned flags) {
  const auto schedule = flags & hipDeviceScheduleMask;
  const bool one_schedule = (schedule & (schedule - 1)) == 0;
  constexpr unsigned known = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  if (!one_schedule || (flags & ~known) != 0) return record(hipErrorInvalidValue);
  Device::current().flags = schedule;
  return hipSuccess;
}

hipError_t hipGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return record(hipErrorInvalidValue);
  *flags = Device::current().flags;
  return hipSuccess;
}

hipError_t hipDeviceSetLimit(hipLimit_t limit, std::size_t value) {
  switch (limit) {
    case hipLimitStackSize:
      if (value == 0 || value > largest_stack_bytes) return record(hipErrorInvalidValue);
      Device::current().stack_bytes = value;
      return hipSuccess;
    case hipLimitMallocHeapSize:  // device malloc takes from the process's memory
      return record(value == 0 ? hipErrorInvalidValue : hipSuccess);
    case hipLimitPrintfFifoSize: return record(hipErrorUnsupportedLimit);
    default: return record(hipErrorInvalidValue);
  }
}

hipError_t hipDeviceGetLimit(std::size_t* value, hipLimit_t limit) {
  if (value == nullptr) return record(hipErrorInvalidValue);
  switch (limit) {
    case hipLimitStackSize: {
      const std::size_t set = Device::current().stack_bytes;
      *value = set != 0 ? set : default_stack_bytes;
      return hipSuccess;
    }
    case hipLimitMallocHeapSize:
      *value = Memory::instance().total(Device::current().ordinal);
      return hipSuccess;
    case hipLimitPrintfFifoSize: return record(hipErrorUnsupportedLimit);
    default: return record(hipErrorInvalidValue);
  }
}

// Cache and bank settings have no effect on RDNA3; AMD's runtime accepts them too.
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  if (config == nullptr) return record(hipErrorInvalidValue);
  *config = hipFuncCachePreferNone;
  return hipSuccess;
}

hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  if (config == nullptr) return record(hipErrorInvalidValue);
  *config = hipSharedMemBankSizeFourByte;
  return hipSuccess;
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 1;
  if (greatest != nullptr) *greatest = -1;
  return hipSuccess;
}

// Memory of all devices lies in one process: each could reach the others'.
hipError_t hipDeviceCanAccessPeer(int* can_access, int device, int peer) {
  if (can_access == nullptr) return record(hipErrorInvalidValue);
  if (check_device(device) != hipSuccess || check_device(peer) != hipSuccess) {
    return record(hipErrorInvalidDevice);
  }
  *can_access = device != peer ? 1 : 0;
  return hipSuccess;
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags != 0) return record(hipErrorInvalidValue);
  return record(Device::current().enable_peer(peer));
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  return record(Device::current().disable_peer(peer));
}

hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int device, int peer) {
  if (value == nullptr) return record(hipErrorInvalidValue);
  if (!are_peers(device, peer)) return record(hipErrorInvalidDevice);
  switch (attribute) {
    case hipDevP2PAttrPerformanceRank: *value = 0; return hipSuccess;  // all links are alike
    case hipDevP2PAttrAccessSupported:
    case hipDevP2PAttrNativeAtomicSupported: *value = 1; return hipSuccess;
    case hipDevP2PAttrHipArrayAccessSupported: *value = 0; return hipSuccess;
    default: return record(hipErrorInvalidValue);
  }
}

hipError_t hipExtGetLinkTypeAndHopCount(int device, int peer, std::uint32_t* type,
                                        std::uint32_t* hops) {
  constexpr std::uint32_t pcie = 2;  // HSA_AMD_LINK_INFO_TYPE_PCIE
  if (type == nullptr || hops == nullptr) return record(hipErrorInvalidValue);
  if (!are_peers(device, peer)) return record(hipErrorInvalidDevice);
  *type = pcie;
  *hops = 1;
  return hipSuccess;
}

hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }
