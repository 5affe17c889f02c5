// The stream-ordered allocator: hipMallocAsync, hipFreeAsync and memory pools.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "graph_operations.hpp"
#include "host_operation.hpp"
#include "memory.hpp"
#include "pool.hpp"

namespace cass::hip {

void Pool::add(std::size_t bytes) {
  const std::lock_guard lock(guard_);
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
}

void Pool::remove(std::size_t bytes) {
  const std::lock_guard lock(guard_);
  used_ -= std::min<std::uint64_t>(bytes, used_);
}

hipError_t Pool::get(hipMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(guard_);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = reuse_[attribute - hipMemPoolReuseFollowEventDependencies];
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
      *static_cast<std::uint64_t*>(value) = release_threshold_;
      return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent:
      *static_cast<std::uint64_t*>(value) = used_;
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      *static_cast<std::uint64_t*>(value) = most_used_;
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

hipError_t Pool::set(hipMemPoolAttr attribute, const void* value) {
  const std::lock_guard lock(guard_);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      reuse_[attribute - hipMemPoolReuseFollowEventDependencies] = *static_cast<const int*>(value);
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
      release_threshold_ = *static_cast<const std::uint64_t*>(value);
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      if (*static_cast<const std::uint64_t*>(value) != 0) return hipErrorInvalidValue;
      most_used_ = used_;
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

hipMemAccessFlags Pool::access(int device) {
  if (device == properties.location.id) return hipMemAccessFlagsProtReadWrite;
  const std::lock_guard lock(guard_);
  const auto found = peers_.find(device);
  return found == peers_.end() ? hipMemAccessFlagsProtNone : found->second;
}

hipError_t Pool::set_access(int device, hipMemAccessFlags flags) {
  if (device == properties.location.id) {  // it cannot lose access to its own memory
    return flags == hipMemAccessFlagsProtReadWrite ? hipSuccess : hipErrorInvalidDevice;
  }
  const std::lock_guard lock(guard_);
  peers_[device] = flags;
  return hipSuccess;
}

}  // namespace cass::hip

using namespace cass::hip;

namespace {

hipMemPoolProps default_properties(int device) {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, device};
  return properties;
}

// Pools by handle, the devices' default ones included.
struct Pools {
  std::mutex guard;
  std::map<hipMemPool_t, std::shared_ptr<Pool>> all;
  std::vector<std::shared_ptr<Pool>> destroyed;  // allocations may still point to them
  std::vector<hipMemPool_t> standard;  // by device
  std::vector<hipMemPool_t> current;

  Pools() {
    for (int device = 0; device < Device::count(); ++device) {
      standard.push_back(add(default_properties(device)));
    }
    current = standard;
  }

  hipMemPool_t add(const hipMemPoolProps& properties) {
    auto pool = std::make_shared<Pool>(properties);
    const auto handle = reinterpret_cast<hipMemPool_t>(pool.get());
    all.emplace(handle, std::move(pool));
    return handle;
  }
};

Pools& pools() {
  static auto& known = *new Pools;
  return known;
}

std::shared_ptr<Pool> pool_of(hipMemPool_t handle) {
  const std::lock_guard lock(pools().guard);
  const auto found = pools().all.find(handle);
  return found == pools().all.end() ? nullptr : found->second;
}

hipError_t allocate(void** address, std::size_t bytes, hipMemPool_t handle,
                    hipStream_t stream_handle) {
  if (address == nullptr) return hipErrorInvalidValue;
  const auto stream = Device::stream(stream_handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  const auto pool = pool_of(handle);
  if (pool == nullptr) return hipErrorInvalidValue;
  if (bytes == 0) {
    *address = nullptr;
    return hipSuccess;
  }
  const std::lock_guard order(Device::lock());
  if (stream->capture != nullptr) {
    hipMemAllocNodeParams parameters{};
    parameters.poolProps = pool->properties;
    parameters.bytesize = bytes;
    std::shared_ptr<Operation> operation;
    const auto error = AllocateOperation::make(&parameters, &operation);
    if (error != hipSuccess) return error;
    *address = parameters.dptr;
    return Device::submit(stream, std::move(operation));
  }
  // The memory is there at once: earlier than the stream needs it.
  const int device = pool->properties.location.id;
  const auto error =
      Memory::instance().allocate(bytes, MemoryKind::device, device, 0, address, pool.get());
  if (error == hipSuccess) pool->add(bytes);
  return error;
}

hipError_t release(void* address, hipStream_t stream_handle) {
  if (address == nullptr) return hipErrorInvalidValue;
  const auto stream = Device::stream(stream_handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  const std::lock_guard order(Device::lock());
  if (stream->capture != nullptr) {
    return Device::submit(stream, std::make_shared<FreeOperation>(address));
  }
  const auto allocation = Memory::instance().find(address);
  if (!allocation || allocation->base != address || allocation->kind != MemoryKind::device) {
    return hipErrorInvalidValue;
  }
  auto* pool = allocation->pool;
  return Device::submit(stream, std::make_shared<HostOperation>([=, bytes = allocation->size] {
                          if (Memory::instance().release(address) != hipSuccess) {
                            report("hipFreeAsync: the memory has been freed already");
                          } else if (pool != nullptr) {
                            pool->remove(bytes);
                          }
                        }));
}

}  // namespace

hipError_t hipMallocAsync(void** address, std::size_t bytes, hipStream_t stream) {
  CASS_STREAM(owned, stream);
  hipMemPool_t pool = nullptr;
  const auto error = hipDeviceGetMemPool(&pool, owned->device().ordinal);
  return error != hipSuccess ? error : record(allocate(address, bytes, pool, stream));
}

hipError_t hipMallocFromPoolAsync(void** address, std::size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  return record(allocate(address, bytes, pool, stream));
}

hipError_t hipFreeAsync(void* address, hipStream_t stream) {
  return record(release(address, stream));
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr ||
      properties->allocType != hipMemAllocationTypePinned ||
      properties->location.type != hipMemLocationTypeDevice ||
      check_device(properties->location.id) != hipSuccess) {
    return record(hipErrorInvalidValue);
  }
  if (properties->handleTypes != hipMemHandleTypeNone) return record(hipErrorNotSupported);
  const std::lock_guard lock(pools().guard);
  *pool = pools().add(*properties);
  return hipSuccess;
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  const std::lock_guard lock(pools().guard);
  const auto found = pools().all.find(pool);
  const bool standard = std::ranges::count(pools().standard, pool) != 0;
  if (found == pools().all.end() || standard) {
    return record(hipErrorInvalidValue);
  }
  pools().destroyed.push_back(std::move(found->second));
  pools().all.erase(found);
  for (std::size_t device = 0; device < pools().current.size(); ++device) {
    if (pools().current[device] == pool) pools().current[device] = pools().standard[device];
  }
  return hipSuccess;
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t) {
  return record(pool_of(pool) != nullptr ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  const auto pool = pool_of(handle);
  if (pool == nullptr || value == nullptr) return record(hipErrorInvalidValue);
  return record(pool->set(attribute, value));
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  const auto pool = pool_of(handle);
  if (pool == nullptr || value == nullptr) return record(hipErrorInvalidValue);
  return record(pool->get(attribute, value));
}

hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc* descriptions,
                               std::size_t count) {
  const auto pool = pool_of(handle);
  if (pool == nullptr || descriptions == nullptr || count == 0) return record(hipErrorInvalidValue);
  for (const auto& each : std::span(descriptions, count)) {
    if (each.location.type != hipMemLocationTypeDevice) return record(hipErrorInvalidValue);
    if (const auto error = check_device(each.location.id); error != hipSuccess) {
      return record(error);
    }
    if (const auto error = pool->set_access(each.location.id, each.flags); error != hipSuccess) {
      return record(error);
    }
  }
  return hipSuccess;
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t handle,
                               hipMemLocation* location) {
  const auto pool = pool_of(handle);
  if (pool == nullptr || flags == nullptr || location == nullptr ||
      location->type != hipMemLocationTypeDevice || check_device(location->id) != hipSuccess) {
    return record(hipErrorInvalidValue);
  }
  *flags = pool->access(location->id);
  return hipSuccess;
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  if (pool == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  *pool = pools().standard[static_cast<std::size_t>(device)];
  return hipSuccess;
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  if (pool == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  const std::lock_guard lock(pools().guard);
  *pool = pools().current[static_cast<std::size_t>(device)];
  return hipSuccess;
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (pool_of(pool) == nullptr) return record(hipErrorInvalidValue);
  const std::lock_guard lock(pools().guard);
  pools().current[static_cast<std::size_t>(device)] = pool;
  return hipSuccess;
}
