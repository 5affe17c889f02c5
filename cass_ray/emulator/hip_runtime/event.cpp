#include "event.hpp"

#include <map>

#include "errors.hpp"

namespace cass::hip {
namespace {

std::mutex& registry_guard() {
  static auto& guard = *new std::mutex;
  return guard;
}

auto& registry() {
  static auto& events = *new std::map<hipEvent_t, EventPointer>;
  return events;
}

constexpr unsigned known_flags = hipEventBlockingSync | hipEventDisableTiming |
                                 hipEventInterprocess | hipEventDisableSystemFence |
                                 hipEventReleaseToDevice | hipEventReleaseToSystem;

// From now on the event stands for `command`.
void stand_for(ihipEvent_t& event, CommandPointer command) {
  const std::lock_guard lock(event.guard);
  event.command = std::move(command);
  event.captured = false;
  event.captured_nodes.clear();
}

// The record of one launch of a graph. Who waits for it waits until it has run, or never will.
class LaunchedRecord final : public Operation {
 public:
  explicit LaunchedRecord(EventPointer event)
      : event_(std::move(event)),
        command_(std::make_shared<Command>(event_->device, std::make_shared<EmptyOperation>(),
                                           std::vector<CommandPointer>{})) {
    stand_for(*event_, command_);
  }
  LaunchedRecord(const LaunchedRecord&) = delete;
  LaunchedRecord& operator=(const LaunchedRecord&) = delete;
  ~LaunchedRecord() override {
    if (!command_->finished()) command_->execute();
  }

  hipError_t run() override {
    command_->execute();
    return hipSuccess;
  }
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeEventRecord; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<EventRecordOperation>(event_);
  }

 private:
  EventPointer event_;
  CommandPointer command_;
};

// The wait of one launch of a graph.
class LaunchedWait final : public Operation {
 public:
  explicit LaunchedWait(EventPointer event) : event_(std::move(event)) {
    const std::lock_guard lock(event_->guard);
    command_ = event_->command;
  }

  hipError_t run() override {
    if (command_ != nullptr) command_->wait();
    return hipSuccess;
  }
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeWaitEvent; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<EventWaitOperation>(event_);
  }

 private:
  EventPointer event_;
  CommandPointer command_;
};

}  // namespace

hipEvent_t create_event(unsigned flags) {
  auto event = std::make_shared<ihipEvent_t>(flags, Device::current());
  auto* handle = event.get();
  const std::lock_guard lock(registry_guard());
  registry().emplace(handle, std::move(event));
  return handle;
}

EventPointer event_of(hipEvent_t handle) {
  const std::lock_guard lock(registry_guard());
  const auto found = registry().find(handle);
  return found == registry().end() ? nullptr : found->second;
}

hipError_t record_event(hipEvent_t handle, const StreamPointer& stream) {
  const auto event = event_of(handle);
  if (event == nullptr) return hipErrorInvalidHandle;
  if (&event->device != &stream->device()) return hipErrorInvalidHandle;
  const std::lock_guard order(Device::lock());
  if (stream->capture != nullptr) {
    const std::lock_guard lock(event->guard);
    event->capture = stream->capture;
    event->captured = true;
    event->captured_nodes = stream->capture->tails(*stream);
    return hipSuccess;
  }
  CommandPointer command;
  const auto error = Device::submit(stream, std::make_shared<EmptyOperation>(), &command);
  if (error != hipSuccess) return error;
  stand_for(*event, std::move(command));
  return hipSuccess;
}

hipError_t EventRecordOperation::run() { return launched()->run(); }

std::shared_ptr<Operation> EventRecordOperation::launched() const {
  return std::make_shared<LaunchedRecord>(event);
}

hipError_t EventWaitOperation::run() { return launched()->run(); }

std::shared_ptr<Operation> EventWaitOperation::launched() const {
  return std::make_shared<LaunchedWait>(event);
}

}  // namespace cass::hip

using namespace cass::hip;

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  if (event == nullptr || (flags & ~known_flags) != 0) return record(hipErrorInvalidValue);
  if ((flags & hipEventReleaseToDevice) != 0 && (flags & hipEventReleaseToSystem) != 0) {
    return record(hipErrorInvalidValue);
  }
  if ((flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0) {
    return record(hipErrorInvalidValue);
  }
  *event = create_event(flags);
  return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t* event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}

hipError_t hipEventDestroy(hipEvent_t event) {
  if (event == nullptr) return record(hipErrorInvalidHandle);
  const std::lock_guard lock(registry_guard());
  return record(registry().erase(event) == 1 ? hipSuccess : hipErrorContextIsDestroyed);
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t handle) {
  CASS_STREAM(stream, handle);
  return record(record_event(event, stream));
}

extern "C" HIP_PUBLIC_API hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return hipEventRecord(event, stream == nullptr ? hipStreamPerThread : stream);
}

hipError_t hipEventQuery(hipEvent_t handle) {
  const auto event = event_of(handle);
  if (event == nullptr) return record(hipErrorInvalidHandle);
  const std::lock_guard lock(event->guard);
  if (event->captured) return record(hipErrorCapturedEvent);
  if (event->command != nullptr && !event->command->finished()) {
    event->command->demand();
    return hipErrorNotReady;
  }
  return record(event->device.failure());
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
  const auto event = event_of(handle);
  if (event == nullptr) return record(hipErrorInvalidHandle);
  CommandPointer command;
  {
    const std::lock_guard lock(event->guard);
    if (event->captured) return record(hipErrorCapturedEvent);
    command = event->command;
  }
  if (command != nullptr) command->wait();
  return record(event->device.failure());
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start_handle,
                               hipEvent_t stop_handle) {
  if (milliseconds == nullptr) return record(hipErrorInvalidValue);
  const auto start = event_of(start_handle);
  const auto stop = event_of(stop_handle);
  if (start == nullptr || stop == nullptr || &start->device != &stop->device) {
    return record(hipErrorInvalidHandle);
  }
  Command::Clock::time_point times[2];
  int index = 0;
  for (const auto& event : {start, stop}) {
    const std::lock_guard lock(event->guard);
    if (event->command == nullptr || (event->flags & hipEventDisableTiming) != 0) {
      return record(hipErrorInvalidHandle);
    }
    if (!event->command->finished()) return hipErrorNotReady;
    times[index++] = event->command->finished_at();
  }
  const std::chrono::duration<float, std::milli> passed = times[1] - times[0];
  *milliseconds = passed.count() * start->device.kind.time_factor;
  return hipSuccess;
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned flags) {
  if (event_handle == nullptr) return record(hipErrorInvalidHandle);
  if (flags != 0) return record(hipErrorInvalidValue);
  CASS_STREAM(stream, handle);
  const auto event = event_of(event_handle);
  if (event == nullptr) return record(hipErrorInvalidHandle);
  const std::lock_guard order(Device::lock());
  CommandPointer command;
  {
    const std::lock_guard lock(event->guard);
    if (event->captured) {
      const auto capture = event->capture.lock();
      if (capture == nullptr || capture->graph() == nullptr) return record(hipErrorCapturedEvent);
      if (stream->capture != nullptr && stream->capture != capture) {
        stream->capture->invalidate();
        return record(hipErrorStreamCaptureMerge);
      }
      capture->join(*stream, event->captured_nodes);
      return hipSuccess;
    }
    command = event->command;
  }
  if (stream->capture != nullptr) {
    if (command == nullptr || command->finished()) return hipSuccess;
    stream->capture->invalidate();
    return record(hipErrorStreamCaptureIsolation);
  }
  Device::wait_for(stream, command);
  return hipSuccess;
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event,
                                                            unsigned flags) {
  return hipStreamWaitEvent(stream == nullptr ? hipStreamPerThread : stream, event, flags);
}
