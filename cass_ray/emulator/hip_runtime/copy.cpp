#include "copy.hpp"

#include <unistd.h>

#include <cstring>
#include <string>

#include "errors.hpp"
#include "memory.hpp"
#include "remote_device.hpp"

namespace cass::hip {
namespace {

// Bytes from the first to one past the last that a request touches on one side.
std::size_t extent(const CopyShape& shape, std::size_t pitch, std::size_t slice) {
  return (shape.depth - 1) * slice + (shape.height - 1) * pitch + shape.width;
}

bool fits(const std::optional<Allocation>& allocation, const void* address, std::size_t bytes) {
  return !allocation || allocation->holds(address, bytes);
}

// The rows of one slice.
hipError_t copy_slice(std::byte* to, const std::byte* from, const CopyShape& shape) {
  const auto& memory = Memory::instance();
  if (memory.in_device_range(to) || memory.in_device_range(from)) {
    auto* source = const_cast<std::byte*>(from);  // a side is read or written by its role
    return RemoteDevice::instance().copy({to, shape.destination_pitch, memory.is_remote(to)},
                                         {source, shape.source_pitch, memory.is_remote(from)},
                                         shape.width, shape.height);
  }
  for (std::size_t y = 0; y < shape.height; ++y) {
    std::memmove(to, from, shape.width);
    to += shape.destination_pitch;
    from += shape.source_pitch;
  }
  return hipSuccess;
}

// In checking mode a copy that says another direction than its pointers do is an error: runtimes
// that look at the pointers alone forgive it.
void check_direction(const CopyRequest& request) {
  constexpr int wrong_copy_status = 86;
  const auto on_device = [](const void* address) { return Memory::in_device_range(address); };
  const auto known = [](const void* address) { return Memory::instance().is_remote(address); };
  const bool to = on_device(request.destination), from = on_device(request.source);
  const bool to_host = !known(request.destination), from_host = !known(request.source);
  bool wrong = false;
  switch (request.kind) {
    case hipMemcpyHostToDevice: wrong = to_host || from; break;
    case hipMemcpyDeviceToHost: wrong = to || from_host; break;
    case hipMemcpyDeviceToDevice: wrong = to_host || from_host; break;
    default: return;
  }
  if (!wrong || RemoteDevice::instance().forgives(request.kind)) return;
  report("the direction " + std::to_string(request.kind) + " of a copy contradicts its pointers (" +
         (to ? "device" : "host") + " memory from " + (from ? "device" : "host") + " memory)");
  ::_exit(wrong_copy_status);
}

}  // namespace

CopyRequest CopyRequest::linear(void* destination, const void* source, std::size_t bytes,
                                hipMemcpyKind kind) {
  CopyRequest request;
  request.destination = static_cast<std::byte*>(destination);
  request.source = static_cast<const std::byte*>(source);
  request.shape.width = bytes;
  request.kind = kind;
  return request;
}

hipError_t check_copy(const CopyRequest& request) {
  if (request.destination == nullptr || request.source == nullptr) return hipErrorInvalidValue;
  const auto kind = static_cast<int>(request.kind);
  if ((kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) &&
      kind != hipMemcpyDeviceToDeviceNoCU) {
    return hipErrorInvalidMemcpyDirection;
  }
  const auto& shape = request.shape;
  const bool rows = shape.height > 1 || shape.depth > 1;
  if (rows && (shape.width > shape.destination_pitch || shape.width > shape.source_pitch)) {
    return hipErrorInvalidPitchValue;
  }
  const auto& memory = Memory::instance();
  const auto destination = memory.find(request.destination);
  const auto source = memory.find(request.source);
  // Freed memory is neither side's: it is no longer mapped.
  if ((!destination && memory.in_device_range(request.destination)) ||
      (!source && memory.in_device_range(request.source))) {
    return hipErrorInvalidValue;
  }
  if (!fits(destination, request.destination,
            extent(shape, shape.destination_pitch, shape.destination_slice)) ||
      !fits(source, request.source, extent(shape, shape.source_pitch, shape.source_slice))) {
    return hipErrorInvalidValue;
  }
  const bool host_only = request.kind == hipMemcpyHostToHost || request.kind == hipMemcpyDefault;
  if (!destination && !source && !host_only) return hipErrorInvalidValue;
  return hipSuccess;
}

hipError_t CopyOperation::run() {
  const auto& shape = request.shape;
  for (std::size_t z = 0; z < shape.depth; ++z) {
    const auto error = copy_slice(request.destination + z * shape.destination_slice,
                                  request.source + z * shape.source_slice, shape);
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t submit_copy(const StreamPointer& stream, const CopyRequest& request, Waiting waiting) {
  if (request.shape.empty()) return hipSuccess;
  if (const auto error = check_copy(request); error != hipSuccess) return error;
  check_direction(request);
  const auto& memory = Memory::instance();
  const bool known = memory.find(request.destination) && memory.find(request.source);
  auto operation = std::make_shared<CopyOperation>(request);
  if (known && waiting == Waiting::as_hip_does) return Device::submit(stream, std::move(operation));
  return Device::submit_and_wait(stream, std::move(operation));
}

hipError_t check_fill(const FillRequest& request) {
  if (request.destination == nullptr) return hipErrorInvalidValue;
  const auto& memory = Memory::instance();
  const auto allocation = memory.find(request.destination);
  if (!allocation) return hipErrorInvalidValue;
  const auto row = request.width * request.element_bytes;
  if (request.height > 1 && row > request.pitch) return hipErrorInvalidValue;
  const auto bytes =
      (request.depth - 1) * request.slice + (request.height - 1) * request.pitch + row;
  return allocation->holds(request.destination, bytes) ? hipSuccess : hipErrorInvalidValue;
}

hipError_t FillOperation::run() {
  device::Fill fill;
  fill.value = request.value;
  fill.element_bytes = request.element_bytes;
  fill.count = request.width;
  fill.pitch = request.pitch;
  fill.rows = request.height;
  for (std::size_t z = 0; z < request.depth; ++z) {
    fill.address = reinterpret_cast<std::uint64_t>(request.destination + z * request.slice);
    if (const auto error = RemoteDevice::instance().fill(fill); error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t submit_fill(const StreamPointer& stream, const FillRequest& request, bool wait) {
  if (request.width == 0 || request.height == 0 || request.depth == 0) return hipSuccess;
  if (const auto error = check_fill(request); error != hipSuccess) return error;
  auto operation = std::make_shared<FillOperation>(request);
  return wait ? Device::submit_and_wait(stream, std::move(operation))
              : Device::submit(stream, std::move(operation));
}

}  // namespace cass::hip
