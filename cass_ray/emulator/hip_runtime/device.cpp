#include "device.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "capture.hpp"
#include "errors.hpp"
#include "remote_device.hpp"
#include "thread_own.hpp"

namespace cass::hip {

namespace {

thread_local int current_ordinal = 0;

}  // namespace

// Never destroyed: their threads may outlive main.
std::vector<std::unique_ptr<Device>>& Device::all() {
  static auto& devices = *new std::vector<std::unique_ptr<Device>>([] {
    std::vector<std::unique_ptr<Device>> made;
    for (const DeviceKind* kind : device_kinds()) {
      made.emplace_back(new Device(static_cast<int>(made.size()), *kind));
    }
    return made;
  }());
  return devices;
}

int Device::count() { return static_cast<int>(all().size()); }
Device& Device::at(int ordinal) { return *all()[static_cast<std::size_t>(ordinal)]; }
Device& Device::current() { return at(current_ordinal); }
void Device::make_current(int ordinal) { current_ordinal = ordinal; }

std::recursive_mutex& Device::lock() {
  static auto& order = *new std::recursive_mutex;
  return order;
}

Device::Device(int ordinal, const DeviceKind& kind)
    : ordinal(ordinal),
      kind(kind),
      null_stream_(std::make_shared<Stream>(*this, hipStreamDefault, 0)) {}

StreamPointer Device::stream(hipStream_t handle) {
  Device& here = current();
  if (handle == nullptr || handle == hipStreamLegacy) return here.null_stream_;
  const std::lock_guard order(lock());
  if (handle == hipStreamPerThread) {
    StreamPointer& stream = thread_own([] { return std::map<int, StreamPointer>(); })[here.ordinal];
    if (stream == nullptr) {
      stream = std::make_shared<Stream>(here, hipStreamDefault, 0);
      here.thread_streams_.push_back(stream);
    }
    return stream;
  }
  for (const auto& device : all()) {
    const auto found = device->streams_.find(handle);
    if (found != device->streams_.end()) return found->second;
  }
  return nullptr;
}

hipStream_t Device::create_stream(unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>(*this, flags, priority);
  const auto handle = reinterpret_cast<hipStream_t>(stream.get());
  const std::lock_guard order(lock());
  streams_.emplace(handle, std::move(stream));
  return handle;
}

hipError_t Device::destroy_stream(hipStream_t handle) {
  StreamPointer stream;
  {
    const std::lock_guard order(lock());
    stream = Device::stream(handle);
    if (stream == nullptr || stream->device().streams_.erase(handle) == 0) {
      return hipErrorInvalidHandle;
    }
  }
  return hipSuccess;  // the destructor waits, without the lock
}

hipError_t Device::submit(const StreamPointer& stream, std::shared_ptr<Operation> operation,
                          CommandPointer* queued) {
  Device& device = stream->device();
  if (queued != nullptr) queued->reset();
  if (const auto error = device.failure(); error != hipSuccess) return error;
  const std::lock_guard order(lock());
  if (stream->capture != nullptr) return stream->capture->add(*stream, std::move(operation));
  if (stream == device.null_stream_ && Capture::forbids_null_stream(device)) {
    Capture::invalidate_blocking(device);
    return hipErrorStreamCaptureImplicit;
  }
  auto command = device.queue(stream, of_launch(std::move(operation)), device.predecessors(stream));
  if (queued != nullptr) *queued = std::move(command);
  return hipSuccess;
}

CommandPointer Device::queue(const StreamPointer& stream, std::shared_ptr<Operation> operation,
                             std::vector<CommandPointer> after) {
  auto command =
      std::make_shared<Command>(*this, std::move(operation), std::move(after), newest_.lock());
  newest_ = command;
  stream->push(command);
  return command;
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
  const std::lock_guard order(lock());
  Device& device = stream->device();
  auto after = device.predecessors(stream);
  after.push_back(command);
  device.queue(stream, std::make_shared<EmptyOperation>(), std::move(after));
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
    const std::lock_guard order(lock());
    for (const auto& stream : all_streams()) {
      if (auto command = stream->pending()) commands.push_back(std::move(command));
    }
  }
  // Where streams are late, those that were made last run first.
  for (const auto& command : std::views::reverse(commands)) command->wait();
  return failure();
}

hipError_t Device::synchronize(const StreamPointer& stream) {
  // Waiting for the null stream is waiting for what it would wait for.
  Device& device = stream->device();
  std::vector<CommandPointer> commands;
  {
    const std::lock_guard order(lock());
    if (stream == device.null_stream_) commands = device.predecessors(stream);
    if (auto command = stream->pending()) commands.push_back(std::move(command));
  }
  for (const auto& command : commands) command->wait();
  return device.failure();
}

void Device::synchronize_all() {
  for (const auto& device : all()) static_cast<void>(device->synchronize());
}

bool Device::is_late() {
  static const bool late = RemoteDevice::instance().is_late();
  return late;
}

bool Device::any_has_ever_failed() {
  return std::ranges::any_of(all(), [](const auto& device) {
    return device->ever_failed_.load(std::memory_order_acquire);
  });
}

bool Device::idle(const StreamPointer& stream) {
  const std::lock_guard order(lock());
  if (const auto command = stream->pending(); command != nullptr) {
    command->demand();
    return false;
  }
  Device& device = stream->device();
  if (stream != device.null_stream_) return true;
  const auto others = device.predecessors(stream);
  for (const auto& command : others) command->demand();
  return others.empty();
}

hipError_t Device::enable_peer(int peer) {
  if (peer < 0 || peer >= count() || peer == ordinal) return hipErrorInvalidDevice;
  const std::lock_guard order(lock());
  return peers_.insert(peer).second ? hipSuccess : hipErrorPeerAccessAlreadyEnabled;
}

bool Device::reaches(int other) const {
  const std::lock_guard order(lock());
  return other == ordinal || peers_.contains(other);
}

hipError_t Device::disable_peer(int peer) {
  if (peer < 0 || peer >= count()) return hipErrorInvalidDevice;
  const std::lock_guard order(lock());
  return peers_.erase(peer) == 1 ? hipSuccess : hipErrorPeerAccessNotEnabled;
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
    const std::lock_guard order(lock());
    doomed.swap(streams_);
    peers_.clear();
  }
  doomed.clear();
  failure_.store(hipSuccess, std::memory_order_release);
  flags = hipDeviceScheduleSpin;
  return result;
}

}  // namespace cass::hip
