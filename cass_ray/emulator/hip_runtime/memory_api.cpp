// Entry points that allocate memory and tell about it.
#include <hip/hip_runtime_api.h>

#include <algorithm>

#include "capture.hpp"
#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "memory.hpp"

using namespace cass::hip;

namespace {

constexpr unsigned known_host_flags = hipHostMallocPortable | hipHostMallocMapped |
                                      hipHostMallocWriteCombined | hipHostMallocNumaUser |
                                      hipHostMallocCoherent | hipHostMallocNonCoherent;

hipError_t allocate(void** address, std::size_t bytes, MemoryKind kind, unsigned flags) {
  if (address == nullptr) return hipErrorInvalidValue;
  if (const auto error = Capture::check_unsafe_call(); error != hipSuccess) return error;
  if (bytes == 0) {
    *address = nullptr;
    return hipSuccess;
  }
  return Memory::instance().allocate(bytes, kind, Device::current().ordinal, flags, address);
}

// Frees memory of one of `kinds` once nothing uses it any more.
template <typename... Kinds>
hipError_t release(void* address, Kinds... kinds) {
  if (address == nullptr) return hipSuccess;
  if (const auto error = Capture::check_unsafe_call(); error != hipSuccess) return error;
  const auto allocation = Memory::instance().find(address);
  if (!allocation || allocation->base != address || ((allocation->kind != kinds) && ...)) {
    return hipErrorInvalidValue;
  }
  if (!Stream::on_worker_thread()) Device::synchronize_all();
  return Memory::instance().release(address);
}

hipMemoryType type_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::pinned:
    case MemoryKind::registered: return hipMemoryTypeHost;
    case MemoryKind::managed: return hipMemoryTypeManaged;
    default: return hipMemoryTypeDevice;
  }
}

template <typename Value>
hipError_t answer(void* data, Value value) {
  *static_cast<Value*>(data) = value;
  return hipSuccess;
}

hipError_t pointer_attribute(void* data, hipPointer_attribute attribute, void* pointer) {
  const auto allocation = Memory::instance().find(pointer);
  if (!allocation) return hipErrorInvalidValue;
  const bool on_host = type_of(allocation->kind) != hipMemoryTypeDevice;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer<unsigned>(data, type_of(allocation->kind));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer<void*>(data, pointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!on_host) return hipErrorInvalidValue;
      return answer<void*>(data, pointer);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
      return answer<unsigned>(data, static_cast<unsigned>(allocation->id));
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer<bool>(data, allocation->kind == MemoryKind::managed);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer<int>(data, allocation->device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer<void*>(data, allocation->base);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return answer<std::size_t>(data, allocation->size);
    case HIP_POINTER_ATTRIBUTE_MAPPED: return answer<bool>(data, true);
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer<hipMemAccessFlags>(data, hipMemAccessFlagsProtReadWrite);
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer<hipMemPool_t>(data, reinterpret_cast<hipMemPool_t>(allocation->pool));
    default: return hipErrorNotSupported;
  }
}

}  // namespace

hipError_t hipMalloc(void** address, std::size_t bytes) {
  return record(allocate(address, bytes, MemoryKind::device, 0));
}

hipError_t hipExtMallocWithFlags(void** address, std::size_t bytes, unsigned flags) {
  if (flags > hipDeviceMallocContiguous) return record(hipErrorInvalidValue);
  return record(allocate(address, bytes, MemoryKind::device, flags));
}

hipError_t hipMallocManaged(void** address, std::size_t bytes, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) {
    return record(hipErrorInvalidValue);
  }
  if (bytes == 0) return record(hipErrorInvalidValue);
  return record(allocate(address, bytes, MemoryKind::managed, flags));
}

hipError_t hipHostMalloc(void** address, std::size_t bytes, unsigned flags) {
  constexpr unsigned coherence = hipHostMallocCoherent | hipHostMallocNonCoherent;
  if ((flags & ~known_host_flags) != 0 || (flags & coherence) == coherence) {
    return record(hipErrorInvalidValue);
  }
  return record(allocate(address, bytes, MemoryKind::pinned, flags));
}

hipError_t hipHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return hipHostMalloc(address, bytes, flags);
}

hipError_t hipMallocHost(void** address, std::size_t bytes) {
  return hipHostMalloc(address, bytes, hipHostMallocDefault);
}

hipError_t hipMemAllocHost(void** address, std::size_t bytes) {
  return hipHostMalloc(address, bytes, hipHostMallocDefault);
}

hipError_t hipFree(void* address) {
  return record(release(address, MemoryKind::device, MemoryKind::managed, MemoryKind::pinned));
}

hipError_t hipHostFree(void* address) { return record(release(address, MemoryKind::pinned)); }

hipError_t hipFreeHost(void* address) { return hipHostFree(address); }

hipError_t hipHostRegister(void* address, std::size_t bytes, unsigned flags) {
  constexpr unsigned known = hipHostRegisterPortable | hipHostRegisterMapped |
                             hipHostRegisterIoMemory | hipHostRegisterReadOnly;
  if (address == nullptr || bytes == 0 || (flags & ~known) != 0) {
    return record(hipErrorInvalidValue);
  }
  return record(Memory::instance().adopt(address, bytes, MemoryKind::registered,
                                         Device::current().ordinal, flags));
}

hipError_t hipHostUnregister(void* address) {
  if (address == nullptr) return record(hipErrorInvalidValue);
  if (!Stream::on_worker_thread()) Device::synchronize_all();
  return record(Memory::instance().abandon(address, MemoryKind::registered));
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags) {
  if (device == nullptr || host == nullptr || flags != 0) return record(hipErrorInvalidValue);
  if (!Memory::instance().find(host)) return record(hipErrorInvalidValue);
  *device = host;
  return hipSuccess;
}

hipError_t hipHostGetFlags(unsigned* flags, void* host) {
  if (flags == nullptr || host == nullptr) return record(hipErrorInvalidValue);
  const auto allocation = Memory::instance().find(host);
  if (!allocation || type_of(allocation->kind) != hipMemoryTypeHost) {
    return record(hipErrorInvalidValue);
  }
  *flags = allocation->flags;
  return hipSuccess;
}

hipError_t hipMemGetInfo(std::size_t* available, std::size_t* total) {
  // What a caller does not want to know may be null, as in AMD's runtime.
  const int device = Device::current().ordinal;
  if (available != nullptr) *available = Memory::instance().available(device);
  if (total != nullptr) *total = Memory::instance().total(device);
  return hipSuccess;
}

hipError_t hipMemPtrGetInfo(void* address, std::size_t* size) {
  if (address == nullptr || size == nullptr) return record(hipErrorInvalidValue);
  const auto allocation = Memory::instance().find(address);
  if (!allocation) return record(hipErrorInvalidValue);
  *size = allocation->size;
  return hipSuccess;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* size, hipDeviceptr_t address) {
  if (base == nullptr || size == nullptr || address == nullptr) {
    return record(hipErrorInvalidValue);
  }
  const auto allocation = Memory::instance().find(address);
  if (!allocation) return record(hipErrorNotFound);
  *base = allocation->base;
  *size = allocation->size;
  return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* address) {
  if (attributes == nullptr || address == nullptr) return record(hipErrorInvalidValue);
  *attributes = {};
  const auto allocation = Memory::instance().find(address);
  if (!allocation) {
    attributes->type = hipMemoryTypeUnregistered;
    attributes->device = hipInvalidDeviceId;
    return hipSuccess;
  }
  attributes->type = type_of(allocation->kind);
  attributes->device = allocation->device;
  attributes->devicePointer = const_cast<void*>(address);
  if (attributes->type != hipMemoryTypeDevice) {
    attributes->hostPointer = const_cast<void*>(address);
  }
  attributes->isManaged = allocation->kind == MemoryKind::managed;
  attributes->allocationFlags = allocation->flags;
  return hipSuccess;
}

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute,
                                  hipDeviceptr_t address) {
  if (data == nullptr || address == nullptr) return record(hipErrorInvalidValue);
  return record(pointer_attribute(data, attribute, address));
}

hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t address) {
  if (attributes == nullptr || data == nullptr) return record(hipErrorInvalidValue);
  for (unsigned index = 0; index < count; ++index) {
    static_cast<void>(pointer_attribute(data[index], attributes[index], address));
  }
  return hipSuccess;
}

hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute,
                                  hipDeviceptr_t address) {
  if (value == nullptr || !Memory::instance().find(address)) return record(hipErrorInvalidValue);
  // Copies are synchronous enough already.
  return record(attribute == HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS ? hipSuccess : hipErrorInvalidValue);
}

// Managed memory does not move: advice and prefetches are checked and have no further effect.
hipError_t hipMemAdvise(const void* address, std::size_t bytes, hipMemoryAdvise, int device) {
  if (address == nullptr || bytes == 0) return record(hipErrorInvalidValue);
  if (device != hipCpuDeviceId && check_device(device) != hipSuccess) {
    return record(hipErrorInvalidDevice);
  }
  return hipSuccess;
}

hipError_t hipMemPrefetchAsync(const void* address, std::size_t bytes, int device,
                               hipStream_t handle) {
  if (address == nullptr || bytes == 0) return record(hipErrorInvalidValue);
  if (device != hipCpuDeviceId && check_device(device) != hipSuccess) {
    return record(hipErrorInvalidDevice);
  }
  CASS_STREAM(stream, handle);
  const auto allocation = Memory::instance().find(address);
  if (!allocation || allocation->kind != MemoryKind::managed) return record(hipErrorInvalidValue);
  return hipSuccess;
}

hipError_t hipStreamAttachMemAsync(hipStream_t handle, void* address, std::size_t, unsigned) {
  CASS_STREAM(stream, handle);
  return record(address == nullptr ? hipErrorInvalidValue : hipSuccess);
}

hipError_t hipMemRangeGetAttribute(void* data, std::size_t size, hipMemRangeAttribute attribute,
                                   const void* address, std::size_t bytes) {
  if (data == nullptr || size == 0 || size % sizeof(int) != 0 || address == nullptr || bytes == 0) {
    return record(hipErrorInvalidValue);
  }
  auto* values = static_cast<int*>(data);
  switch (attribute) {
    case hipMemRangeAttributeReadMostly:
    case hipMemRangeAttributeCoherencyMode: values[0] = 0; return hipSuccess;
    case hipMemRangeAttributePreferredLocation:
    case hipMemRangeAttributeLastPrefetchLocation:
      values[0] = hipInvalidDeviceId;
      return hipSuccess;
    case hipMemRangeAttributeAccessedBy:
      std::fill_n(values, size / sizeof(int), hipInvalidDeviceId);
      values[0] = 0;
      return hipSuccess;
    default: return record(hipErrorInvalidValue);
  }
}

hipError_t hipMemRangeGetAttributes(void** data, std::size_t* sizes,
                                    hipMemRangeAttribute* attributes, std::size_t count,
                                    const void* address, std::size_t bytes) {
  if (data == nullptr || sizes == nullptr || attributes == nullptr || count == 0) {
    return record(hipErrorInvalidValue);
  }
  for (std::size_t index = 0; index < count; ++index) {
    const auto error =
        hipMemRangeGetAttribute(data[index], sizes[index], attributes[index], address, bytes);
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}
