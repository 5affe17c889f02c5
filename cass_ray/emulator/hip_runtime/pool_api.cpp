// The stream-ordered allocator: hipMallocAsync, hipFreeAsync and memory pools.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <map>
#include <memory>

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

}  // namespace cass::hip

using namespace cass::hip;

namespace {

hipMemPoolProps default_properties() {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  return properties;
}

// Pools by handle, the default one included.
struct Pools {
  std::mutex guard;
  std::map<hipMemPool_t, std::shared_ptr<Pool>> all;
  std::vector<std::shared_ptr<Pool>> destroyed;  // allocations may still point to them
  hipMemPool_t standard;
  hipMemPool_t current;

  Pools() { standard = current = add(default_properties()); }

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
  const auto stream = Device::instance().stream(stream_handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  const auto pool = pool_of(handle);
  if (pool == nullptr) return hipErrorInvalidValue;
  if (bytes == 0) {
    *address = nullptr;
    return hipSuccess;
  }
  auto& device = Device::instance();
  const std::lock_guard order(device.lock());
  if (stream->capture != nullptr) {
    hipMemAllocNodeParams parameters{};
    parameters.poolProps = pool->properties;
    parameters.bytesize = bytes;
    std::shared_ptr<Operation> operation;
    const auto error = AllocateOperation::make(&parameters, &operation);
    if (error != hipSuccess) return error;
    *address = parameters.dptr;
    return device.submit(stream, std::move(operation));
  }
  // The memory is there at once: earlier than the stream needs it.
  const auto error = Memory::instance().allocate(bytes, MemoryKind::device, 0, address, pool.get());
  if (error == hipSuccess) pool->add(bytes);
  return error;
}

hipError_t release(void* address, hipStream_t stream_handle) {
  if (address == nullptr) return hipErrorInvalidValue;
  const auto stream = Device::instance().stream(stream_handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  auto& device = Device::instance();
  const std::lock_guard order(device.lock());
  if (stream->capture != nullptr) {
    return device.submit(stream, std::make_shared<FreeOperation>(address));
  }
  const auto allocation = Memory::instance().find(address);
  if (!allocation || allocation->base != address || allocation->kind != MemoryKind::device) {
    return hipErrorInvalidValue;
  }
  auto* pool = allocation->pool;
  return device.submit(stream, std::make_shared<HostOperation>([=, bytes = allocation->size] {
                         if (Memory::instance().release(address) != hipSuccess) {
                           report("hipFreeAsync: the memory has been freed already");
                         } else if (pool != nullptr) {
                           pool->remove(bytes);
                         }
                       }));
}

}  // namespace

hipError_t hipMallocAsync(void** address, std::size_t bytes, hipStream_t stream) {
  return record(allocate(address, bytes, pools().current, stream));
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
  if (found == pools().all.end() || pool == pools().standard) {
    return record(hipErrorInvalidValue);
  }
  pools().destroyed.push_back(std::move(found->second));
  pools().all.erase(found);
  if (pools().current == pool) pools().current = pools().standard;
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
  if (pool == nullptr || descriptions == nullptr || count != 1 ||
      descriptions->location.type != hipMemLocationTypeDevice) {
    return record(hipErrorInvalidValue);
  }
  if (const auto error = check_device(descriptions->location.id); error != hipSuccess) {
    return record(error);
  }
  // A device cannot lose access to its own memory.
  return record(descriptions->flags == hipMemAccessFlagsProtReadWrite ? hipSuccess
                                                                      : hipErrorInvalidDevice);
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t handle,
                               hipMemLocation* location) {
  const auto pool = pool_of(handle);
  if (pool == nullptr || flags == nullptr || location == nullptr) {
    return record(hipErrorInvalidValue);
  }
  *flags = pool->access;
  return hipSuccess;
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  if (pool == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  *pool = pools().standard;
  return hipSuccess;
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  if (pool == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  const std::lock_guard lock(pools().guard);
  *pool = pools().current;
  return hipSuccess;
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (pool_of(pool) == nullptr) return record(hipErrorInvalidValue);
  const std::lock_guard lock(pools().guard);
  pools().current = pool;
  return hipSuccess;
}
