#include "copy.hpp"

#include <cstring>

#include "../engine/engine.hpp"
#include "memory.hpp"

namespace cass::hip {
namespace {

// Bytes from the first to one past the last that a request touches on one side.
std::size_t extent(const CopyShape& shape, std::size_t pitch, std::size_t slice) {
  return (shape.depth - 1) * slice + (shape.height - 1) * pitch + shape.width;
}

bool fits(const std::optional<Allocation>& allocation, const void* address, std::size_t bytes) {
  return !allocation || allocation->holds(address, bytes);
}

template <typename Element>
void fill_row(std::byte* row, std::uint32_t value, std::size_t count) {
  const auto element = static_cast<Element>(value);
  for (std::size_t index = 0; index < count; ++index) {
    std::memcpy(row + index * sizeof element, &element, sizeof element);
  }
}

void mark(const void* address, std::size_t bytes) {
  if (rdna3::checking()) rdna3::mark_initialized(address, bytes);
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
    auto* to = request.destination + z * shape.destination_slice;
    const auto* from = request.source + z * shape.source_slice;
    for (std::size_t y = 0; y < shape.height; ++y) {
      std::memmove(to, from, shape.width);
      mark(to, shape.width);
      to += shape.destination_pitch;
      from += shape.source_pitch;
    }
  }
  return hipSuccess;
}

hipError_t submit_copy(const StreamPointer& stream, const CopyRequest& request, Waiting waiting) {
  if (request.shape.empty()) return hipSuccess;
  if (const auto error = check_copy(request); error != hipSuccess) return error;
  const auto& memory = Memory::instance();
  const bool known = memory.find(request.destination) && memory.find(request.source);
  auto operation = std::make_shared<CopyOperation>(request);
  auto& device = Device::instance();
  if (known && waiting == Waiting::as_hip_does) return device.submit(stream, std::move(operation));
  return device.submit_and_wait(stream, std::move(operation));
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
  for (std::size_t z = 0; z < request.depth; ++z) {
    for (std::size_t y = 0; y < request.height; ++y) {
      auto* row = request.destination + z * request.slice + y * request.pitch;
      switch (request.element_bytes) {
        case 1: std::memset(row, static_cast<int>(request.value), request.width); break;
        case 2: fill_row<std::uint16_t>(row, request.value, request.width); break;
        default: fill_row<std::uint32_t>(row, request.value, request.width);
      }
      mark(row, request.width * request.element_bytes);
    }
  }
  return hipSuccess;
}

hipError_t submit_fill(const StreamPointer& stream, const FillRequest& request, bool wait) {
  if (request.width == 0 || request.height == 0 || request.depth == 0) return hipSuccess;
  if (const auto error = check_fill(request); error != hipSuccess) return error;
  auto operation = std::make_shared<FillOperation>(request);
  auto& device = Device::instance();
  return wait ? device.submit_and_wait(stream, std::move(operation))
              : device.submit(stream, std::move(operation));
}

}  // namespace cass::hip
