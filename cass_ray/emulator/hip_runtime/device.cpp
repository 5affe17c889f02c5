#include "device.hpp"

#include <algorithm>
#include <utility>

#include "capture.hpp"
#include "errors.hpp"

namespace cass::hip {

Device& Device::instance() {
  static auto& device = *new Device;  // never destroyed: its threads may outlive main
  return device;
}

Device::Device() : null_stream_(std::make_shared<Stream>(hipStreamDefault, 0)) {}

StreamPointer Device::stream(hipStream_t handle) {
  if (handle == nullptr || handle == hipStreamLegacy) return null_stream_;
  const std::lock_guard lock(order_);
  if (handle == hipStreamPerThread) {
    thread_local StreamPointer own;
    if (own == nullptr) {
      own = std::make_shared<Stream>(hipStreamDefault, 0);
      thread_streams_.push_back(own);
    }
    return own;
  }
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second;
}

hipStream_t Device::create_stream(unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>(flags, priority);
  const auto handle = reinterpret_cast<hipStream_t>(stream.get());
  const std::lock_guard lock(order_);
  streams_.emplace(handle, std::move(stream));
  return handle;
}

hipError_t Device::destroy_stream(hipStream_t handle) {
  StreamPointer stream;
  {
    const std::lock_guard lock(order_);
    const auto found = streams_.find(handle);
    if (found == streams_.end()) return hipErrorInvalidHandle;
    stream = std::move(found->second);
    streams_.erase(found);
  }
  return hipSuccess;  // the destructor waits, without the lock
}

hipError_t Device::submit(const StreamPointer& stream, std::shared_ptr<Operation> operation,
                          CommandPointer* queued) {
  if (queued != nullptr) queued->reset();
  if (const auto error = failure(); error != hipSuccess) return error;
  const std::lock_guard lock(order_);
  if (stream->capture != nullptr) return stream->capture->add(*stream, std::move(operation));
  if (stream == null_stream_ && Capture::forbids_null_stream()) {
    Capture::invalidate_blocking();
    return hipErrorStreamCaptureImplicit;
  }
  auto command = std::make_shared<Command>(std::move(operation), predecessors(stream));
  if (queued != nullptr) *queued = command;
  stream->push(std::move(command));
  return hipSuccess;
}

hipError_t Device::submit_and_wait(const StreamPointer& stream,
                                   std::shared_ptr<Operation> operation) {
  CommandPointer command;
  if (const auto error = submit(stream, std::move(operation), &command); error != hipSuccess) {
    return error;
  }
  if (command == nullptr) return hipSuccess;  // captured
  command->wait();
  return command->result();
}

void Device::wait_for(const StreamPointer& stream, const CommandPointer& command) {
  if (command == nullptr || command->finished()) return;
  const std::lock_guard lock(order_);
  auto after = predecessors(stream);
  after.push_back(command);
  stream->push(std::make_shared<Command>(std::make_shared<EmptyOperation>(), std::move(after)));
}

std::vector<CommandPointer> Device::predecessors(const StreamPointer& stream) {
  std::vector<CommandPointer> commands;
  const auto add = [&](const StreamPointer& other) {
    if (auto command = other->pending()) commands.push_back(std::move(command));
  };
  if (stream == null_stream_) {
    for (const auto& other : all_streams()) {
      if (other != stream && other->blocking()) add(other);
    }
  } else if (stream->blocking()) {
    add(null_stream_);
  }
  return commands;
}

std::vector<StreamPointer> Device::all_streams() {
  std::vector<StreamPointer> streams{null_stream_};
  for (const auto& [handle, stream] : streams_) streams.push_back(stream);
  std::erase_if(thread_streams_, [](const auto& stream) { return stream.expired(); });
  for (const auto& entry : thread_streams_) {
    if (auto stream = entry.lock()) streams.push_back(std::move(stream));
  }
  return streams;
}

hipError_t Device::synchronize() {
  std::vector<CommandPointer> commands;
  {
    const std::lock_guard lock(order_);
    for (const auto& stream : all_streams()) {
      if (auto command = stream->pending()) commands.push_back(std::move(command));
    }
  }
  for (const auto& command : commands) command->wait();
  return failure();
}

hipError_t Device::synchronize(const StreamPointer& stream) {
  // Waiting for the null stream is waiting for what it would wait for.
  std::vector<CommandPointer> commands;
  {
    const std::lock_guard lock(order_);
    if (stream == null_stream_) commands = predecessors(stream);
    if (auto command = stream->pending()) commands.push_back(std::move(command));
  }
  for (const auto& command : commands) command->wait();
  return failure();
}

bool Device::idle(const StreamPointer& stream) {
  const std::lock_guard lock(order_);
  if (stream->pending() != nullptr) return false;
  return stream != null_stream_ || predecessors(stream).empty();
}

void Device::fail(hipError_t error) {
  ever_failed_.store(true, std::memory_order_release);
  auto expected = hipSuccess;
  failure_.compare_exchange_strong(expected, error, std::memory_order_acq_rel);
}

hipError_t Device::reset() {
  const auto result = synchronize();
  std::map<hipStream_t, StreamPointer> doomed;
  {
    const std::lock_guard lock(order_);
    doomed.swap(streams_);
  }
  doomed.clear();
  failure_.store(hipSuccess, std::memory_order_release);
  flags = hipDeviceScheduleSpin;
  return result;
}

}  // namespace cass::hip
