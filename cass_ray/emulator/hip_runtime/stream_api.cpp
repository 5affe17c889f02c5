// Entry points of streams, and work of the host in their order.
#include <hip/hip_runtime_api.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "capture.hpp"
#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "host_operation.hpp"
#include "memory.hpp"

using namespace cass::hip;

namespace {

constexpr int least_priority = 1;
constexpr int greatest_priority = -1;

hipError_t create(hipStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr) return hipErrorInvalidValue;
  if (flags != hipStreamDefault && flags != hipStreamNonBlocking) return hipErrorInvalidValue;
  priority = std::min(std::max(priority, greatest_priority), least_priority);
  *stream = Device::current().create_stream(flags, priority);
  return hipSuccess;
}

template <typename Word>
bool satisfied(Word value, Word wanted, Word mask, unsigned flags) {
  value &= mask;
  switch (flags) {
    case hipStreamWaitValueGte: return value >= wanted;
    case hipStreamWaitValueEq: return value == wanted;
    case hipStreamWaitValueAnd: return (value & wanted) != 0;
    default: return ~(value | wanted) != 0;
  }
}

// Queues `work`, a step that the stream's thread takes.
hipError_t submit_step(hipStream_t handle, std::function<void()> work) {
  const auto stream = Device::stream(handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  return Device::submit(stream, std::make_shared<HostOperation>(std::move(work)));
}

template <typename Word>
hipError_t wait_value(hipStream_t stream, void* address, Word wanted, Word mask, unsigned flags) {
  if (address == nullptr || flags > hipStreamWaitValueNor) return hipErrorInvalidValue;
  if (!Memory::instance().find(address)) return hipErrorInvalidValue;
  return submit_step(stream, [=] {
    const std::atomic_ref<Word> word(*static_cast<Word*>(address));
    while (!satisfied<Word>(word.load(std::memory_order_acquire), wanted, mask, flags)) {
      std::this_thread::yield();
    }
  });
}

template <typename Word>
hipError_t write_value(hipStream_t stream, void* address, Word value) {
  if (address == nullptr || !Memory::instance().find(address)) return hipErrorInvalidValue;
  return submit_step(stream, [=] {
    std::atomic_ref<Word>(*static_cast<Word*>(address)).store(value, std::memory_order_release);
  });
}

}  // namespace

hipError_t hipStreamCreate(hipStream_t* stream) {
  return record(create(stream, hipStreamDefault, 0));
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return record(create(stream, flags, 0));
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return record(create(stream, flags, priority));
}

hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, std::uint32_t words,
                                        const std::uint32_t* mask) {
  if (words == 0 || mask == nullptr) return record(hipErrorInvalidValue);
  return record(create(stream, hipStreamDefault, 0));
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  if (stream == nullptr || stream == hipStreamPerThread || stream == hipStreamLegacy) {
    return record(hipErrorInvalidHandle);
  }
  const auto owned = Device::stream(stream);
  if (owned == nullptr) return record(hipErrorContextIsDestroyed);
  {
    const std::lock_guard lock(Device::lock());
    if (owned->capture != nullptr) {
      owned->capture->invalidate();
      owned->capture->leave(*owned);
      owned->capture.reset();
    }
  }
  return record(Device::destroy_stream(stream));
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
  CASS_STREAM(stream, handle);
  {
    const std::lock_guard lock(Device::lock());
    if (stream->capture != nullptr) {
      stream->capture->invalidate();
      return record(hipErrorStreamCaptureUnsupported);
    }
  }
  return record(Device::synchronize(stream));
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return hipStreamSynchronize(stream == nullptr ? hipStreamPerThread : stream);
}

hipError_t hipStreamQuery(hipStream_t handle) {
  CASS_STREAM(stream, handle);
  {
    const std::lock_guard lock(Device::lock());
    if (stream->capture != nullptr) {
      stream->capture->invalidate();
      return record(hipErrorStreamCaptureUnsupported);
    }
  }
  if (!Device::idle(stream)) return hipErrorNotReady;
  return record(stream->device().failure());
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamQuery_spt(hipStream_t stream) {
  return hipStreamQuery(stream == nullptr ? hipStreamPerThread : stream);
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned* flags) {
  if (flags == nullptr) return record(hipErrorInvalidValue);
  CASS_STREAM(stream, handle);
  *flags = stream->flags();
  return hipSuccess;
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned* flags) {
  return hipStreamGetFlags(stream == nullptr ? hipStreamPerThread : stream, flags);
}

hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  if (priority == nullptr) return record(hipErrorInvalidValue);
  CASS_STREAM(stream, handle);
  *priority = stream->priority();
  return hipSuccess;
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return hipStreamGetPriority(stream == nullptr ? hipStreamPerThread : stream, priority);
}

hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t* device) {
  if (device == nullptr) return record(hipErrorInvalidValue);
  CASS_STREAM(stream, handle);
  *device = stream->device().ordinal;
  return hipSuccess;
}

extern "C" HIP_PUBLIC_API int hipGetStreamDeviceId(hipStream_t handle) {
  const auto stream = Device::stream(handle);
  return stream == nullptr ? hipInvalidDeviceId : stream->device().ordinal;
}

hipError_t hipExtStreamGetCUMask(hipStream_t handle, std::uint32_t words, std::uint32_t* mask) {
  if (mask == nullptr) return record(hipErrorInvalidValue);
  CASS_STREAM(stream, handle);
  const int units = stream->device().kind.physical_compute_units;
  if (words * 32 < static_cast<unsigned>(units)) return record(hipErrorInvalidValue);
  for (std::uint32_t word = 0; word < words; ++word) {
    const int left = units - static_cast<int>(word) * 32;
    mask[word] = left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0u;
  }
  return hipSuccess;
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  if (function == nullptr) return record(hipErrorInvalidValue);
  CASS_STREAM(owned, stream);
  return record(Device::submit(owned, std::make_shared<HostOperation>(function, data)));
}

extern "C" HIP_PUBLIC_API hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function,
                                                           void* data) {
  return hipLaunchHostFunc(stream == nullptr ? hipStreamPerThread : stream, function, data);
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data,
                                unsigned flags) {
  if (callback == nullptr || flags != 0) return record(hipErrorInvalidValue);
  CASS_STREAM(owned, stream);
  return record(submit_step(
      stream, [=, &device = owned->device()] { callback(stream, device.failure(), data); }));
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamAddCallback_spt(hipStream_t stream,
                                                              hipStreamCallback_t callback,
                                                              void* data, unsigned flags) {
  return hipStreamAddCallback(stream == nullptr ? hipStreamPerThread : stream, callback, data,
                              flags);
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void* address, std::uint32_t value,
                                unsigned flags, std::uint32_t mask) {
  return record(wait_value<std::uint32_t>(stream, address, value, mask, flags));
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void* address, std::uint64_t value,
                                unsigned flags, std::uint64_t mask) {
  return record(wait_value<std::uint64_t>(stream, address, value, mask, flags));
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void* address, std::uint32_t value, unsigned) {
  return record(write_value<std::uint32_t>(stream, address, value));
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* address, std::uint64_t value, unsigned) {
  return record(write_value<std::uint64_t>(stream, address, value));
}
