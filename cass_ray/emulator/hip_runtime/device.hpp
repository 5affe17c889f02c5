// The devices: their streams, the order between them, and whether a kernel has failed.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "command.hpp"
#include "device_kind.hpp"
#include "operation.hpp"
#include "stream.hpp"

namespace cass::hip {

using StreamPointer = std::shared_ptr<Stream>;

class Device {
 public:
  // How many there are, from 0 on, and one of them.
  static int count();
  static Device& at(int ordinal);

  // That of the calling thread: the first one until make_current().
  static Device& current();
  static void make_current(int ordinal);

  // The stream of a handle, on whichever device: null and hipStreamLegacy are the current device's
  // null stream, hipStreamPerThread is the calling thread's own there. Null pointer for a handle
  // that is not a stream.
  static StreamPointer stream(hipStream_t handle);

  // Queues `operation`, or adds it to the graph that `stream` captures into. The null stream waits
  // for all blocking streams of its device and they for it. `queued` receives the command, null
  // when capturing.
  static hipError_t submit(const StreamPointer& stream, std::shared_ptr<Operation> operation,
                           CommandPointer* queued = nullptr);

  // submit(), then waits for the result.
  static hipError_t submit_and_wait(const StreamPointer& stream,
                                    std::shared_ptr<Operation> operation);

  // Makes the next command of `stream` start after `command`, of any device.
  static void wait_for(const StreamPointer& stream, const CommandPointer& command);

  // Until the work queued so far is done; the device's failure, if any.
  static hipError_t synchronize(const StreamPointer& stream);
  static bool idle(const StreamPointer& stream);

  // Until all devices have done what is queued so far.
  static void synchronize_all();

  static bool any_has_ever_failed();

  // Guards captures and the order of submission across streams and devices.
  static std::recursive_mutex& lock();

  // Until the work queued so far is done; the device's failure, if any.
  hipError_t synchronize();

  hipStream_t create_stream(unsigned flags, int priority);
  static hipError_t destroy_stream(hipStream_t handle);

  // The error of the first kernel that failed. It stays until reset(), as on a GPU whose queue
  // has been torn down.
  hipError_t failure() const { return failure_.load(std::memory_order_acquire); }
  void fail(hipError_t error);

  // Commands of all streams run one after the other, in the order in which the program queued them,
  // so that a program does the same each time. It ends where a command does not come to its end
  // before a later one starts.
  bool takes_turns() const { return takes_turns_.load(std::memory_order_acquire); }
  void let_streams_overlap() { takes_turns_.store(false, std::memory_order_release); }

  // Commands start only when something waits for them, and what nothing waits for does not: on a
  // card, too, they may be late, in whichever order. For runs in another order.
  static bool is_late();

  // hipDeviceEnablePeerAccess and its opposite, with their errors.
  hipError_t enable_peer(int peer);
  hipError_t disable_peer(int peer);
  // Whether its kernels may use the memory of another one, or its own.
  bool reaches(int other) const;

  // hipDeviceReset: waits, then destroys the streams and forgets the failure.
  hipError_t reset();

  const int ordinal;
  const DeviceKind& kind;

  std::atomic<unsigned> flags = hipDeviceScheduleSpin;

  // hipLimitStackSize, bytes of a lane; 0 until the program sets it.
  std::atomic<std::size_t> stack_bytes = 0;

 private:
  Device(int ordinal, const DeviceKind& kind);
  static std::vector<std::unique_ptr<Device>>& all();
  std::vector<StreamPointer> all_streams();
  std::vector<CommandPointer> predecessors(const StreamPointer& stream);
  CommandPointer queue(const StreamPointer& stream, std::shared_ptr<Operation> operation,
                       std::vector<CommandPointer> after);

  StreamPointer null_stream_;
  std::map<hipStream_t, StreamPointer> streams_;
  std::vector<std::weak_ptr<Stream>> thread_streams_;
  std::set<int> peers_;
  std::atomic<hipError_t> failure_ = hipSuccess;
  std::atomic<bool> ever_failed_ = false;
  std::weak_ptr<Command> newest_;  // guarded by lock()
  std::atomic<bool> takes_turns_ = true;
};

// The stream of a handle, or an early return of hipErrorInvalidHandle from the enclosing function.
#define CASS_STREAM(name, handle)                        \
  const auto name = ::cass::hip::Device::stream(handle); \
  if (name == nullptr) return ::cass::hip::record(hipErrorInvalidHandle)

}  // namespace cass::hip
