// The one device: its streams, the order between them, and whether a kernel has failed.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "command.hpp"
#include "operation.hpp"
#include "stream.hpp"

namespace cass::hip {

using StreamPointer = std::shared_ptr<Stream>;

class Device {
 public:
  static Device& instance();

  // The stream of a handle: null and hipStreamLegacy are the null stream, hipStreamPerThread is
  // the calling thread's own. Null pointer for a handle that is not a stream.
  StreamPointer stream(hipStream_t handle);

  hipStream_t create_stream(unsigned flags, int priority);
  hipError_t destroy_stream(hipStream_t handle);

  // Queues `operation`, or adds it to the graph that `stream` captures into. The null stream waits
  // for all blocking streams and they for it. `queued` receives the command, null when capturing.
  hipError_t submit(const StreamPointer& stream, std::shared_ptr<Operation> operation,
                    CommandPointer* queued = nullptr);

  // submit(), then waits for the result.
  hipError_t submit_and_wait(const StreamPointer& stream, std::shared_ptr<Operation> operation);

  // Makes the next command of `stream` start after `command`.
  void wait_for(const StreamPointer& stream, const CommandPointer& command);

  // Until the work queued so far is done; the device's failure, if any.
  hipError_t synchronize();
  hipError_t synchronize(const StreamPointer& stream);
  bool idle(const StreamPointer& stream);

  // The error of the first kernel that failed. It stays until reset(), as on a GPU whose queue
  // has been torn down.
  hipError_t failure() const { return failure_.load(std::memory_order_acquire); }
  void fail(hipError_t error);
  bool has_ever_failed() const { return ever_failed_.load(std::memory_order_acquire); }

  // hipDeviceReset: waits, then destroys the streams and forgets the failure.
  hipError_t reset();

  // Guards captures and the order of submission across streams.
  std::recursive_mutex& lock() { return order_; }

  std::atomic<unsigned> flags = hipDeviceScheduleSpin;

  // hipLimitStackSize, bytes of a lane; 0 until the program sets it.
  std::atomic<std::size_t> stack_bytes = 0;

 private:
  Device();
  std::vector<StreamPointer> all_streams();
  std::vector<CommandPointer> predecessors(const StreamPointer& stream);

  std::recursive_mutex order_;
  StreamPointer null_stream_;
  std::map<hipStream_t, StreamPointer> streams_;
  std::vector<std::weak_ptr<Stream>> thread_streams_;
  std::atomic<hipError_t> failure_ = hipSuccess;
  std::atomic<bool> ever_failed_ = false;
};

// The stream of a handle, or an early return of hipErrorInvalidHandle from the enclosing function.
#define CASS_STREAM(name, handle)                                   \
  const auto name = ::cass::hip::Device::instance().stream(handle); \
  if (name == nullptr) return ::cass::hip::record(hipErrorInvalidHandle)

}  // namespace cass::hip
