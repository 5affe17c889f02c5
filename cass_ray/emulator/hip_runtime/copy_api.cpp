// Entry points of one-dimensional copies and fills, and of copies to and from symbols.
#include <hip/hip_runtime_api.h>

#include "copy.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "module.hpp"

using namespace cass::hip;

namespace {

hipError_t copy(void* destination, const void* source, std::size_t bytes, hipMemcpyKind kind,
                hipStream_t handle, Waiting waiting) {
  const auto stream = Device::stream(handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  return submit_copy(stream, CopyRequest::linear(destination, source, bytes, kind), waiting);
}

hipError_t fill(void* destination, std::uint32_t value, std::size_t element_bytes,
                std::size_t count, hipStream_t handle, bool wait) {
  const auto stream = Device::stream(handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  FillRequest request;
  request.destination = static_cast<std::byte*>(destination);
  request.value = value;
  request.element_bytes = element_bytes;
  request.width = count;
  return submit_fill(stream, request, wait);
}

// The address `offset` bytes into a variable with room for `bytes`.
hipError_t part_of_symbol(const void* symbol, std::size_t bytes, std::size_t offset,
                          std::byte** address) {
  cass::amdgpu::Symbol variable;
  if (symbol == nullptr) return hipErrorInvalidSymbol;
  const int device = Device::current().ordinal;
  if (const auto error = Program::instance().variable(symbol, device, &variable);
      error != hipSuccess) {
    return error;
  }
  if (offset > variable.size || bytes > variable.size - offset) return hipErrorInvalidValue;
  *address = variable.address + offset;
  return hipSuccess;
}

hipError_t copy_to_symbol(const void* symbol, const void* source, std::size_t bytes,
                          std::size_t offset, hipMemcpyKind kind, hipStream_t stream,
                          Waiting waiting) {
  if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice &&
      kind != hipMemcpyDefault) {
    return hipErrorInvalidMemcpyDirection;
  }
  std::byte* address = nullptr;
  const auto error = part_of_symbol(symbol, bytes, offset, &address);
  return error != hipSuccess ? error : copy(address, source, bytes, kind, stream, waiting);
}

hipError_t copy_from_symbol(void* destination, const void* symbol, std::size_t bytes,
                            std::size_t offset, hipMemcpyKind kind, hipStream_t stream,
                            Waiting waiting) {
  if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice &&
      kind != hipMemcpyDefault) {
    return hipErrorInvalidMemcpyDirection;
  }
  std::byte* address = nullptr;
  const auto error = part_of_symbol(symbol, bytes, offset, &address);
  return error != hipSuccess ? error : copy(destination, address, bytes, kind, stream, waiting);
}

}  // namespace

hipError_t hipMemcpy(void* destination, const void* source, std::size_t bytes, hipMemcpyKind kind) {
  return record(copy(destination, source, bytes, kind, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                          hipMemcpyKind kind, hipStream_t stream) {
  return record(copy(destination, source, bytes, kind, stream, Waiting::as_hip_does));
}

hipError_t hipMemcpyWithStream(void* destination, const void* source, std::size_t bytes,
                               hipMemcpyKind kind, hipStream_t stream) {
  return record(copy(destination, source, bytes, kind, stream, Waiting::until_done));
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t destination, void* source, std::size_t bytes) {
  return hipMemcpy(destination, source, bytes, hipMemcpyHostToDevice);
}

hipError_t hipMemcpyDtoH(void* destination, hipDeviceptr_t source, std::size_t bytes) {
  return hipMemcpy(destination, source, bytes, hipMemcpyDeviceToHost);
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t destination, hipDeviceptr_t source, std::size_t bytes) {
  return hipMemcpy(destination, source, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t destination, void* source, std::size_t bytes,
                              hipStream_t stream) {
  return hipMemcpyAsync(destination, source, bytes, hipMemcpyHostToDevice, stream);
}

hipError_t hipMemcpyDtoHAsync(void* destination, hipDeviceptr_t source, std::size_t bytes,
                              hipStream_t stream) {
  return hipMemcpyAsync(destination, source, bytes, hipMemcpyDeviceToHost, stream);
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t destination, hipDeviceptr_t source, std::size_t bytes,
                              hipStream_t stream) {
  return hipMemcpyAsync(destination, source, bytes, hipMemcpyDeviceToDevice, stream);
}

hipError_t hipMemcpyPeer(void* destination, int destination_device, const void* source,
                         int source_device, std::size_t bytes) {
  if (check_device(destination_device) != hipSuccess || check_device(source_device) != hipSuccess) {
    return record(hipErrorInvalidDevice);
  }
  // It starts when both devices have done what was asked of them.
  for (const int device : {source_device, destination_device}) {
    if (const auto error = Device::at(device).synchronize(); error != hipSuccess) {
      return record(error);
    }
  }
  return hipMemcpy(destination, source, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                              int source_device, std::size_t bytes, hipStream_t stream) {
  if (check_device(destination_device) != hipSuccess || check_device(source_device) != hipSuccess) {
    return record(hipErrorInvalidDevice);
  }
  return hipMemcpyAsync(destination, source, bytes, hipMemcpyDeviceToDevice, stream);
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes,
                             std::size_t offset, hipMemcpyKind kind) {
  return record(copy_to_symbol(symbol, source, bytes, offset, kind, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes,
                                  std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return record(copy_to_symbol(symbol, source, bytes, offset, kind, stream, Waiting::as_hip_does));
}

hipError_t hipMemcpyFromSymbol(void* destination, const void* symbol, std::size_t bytes,
                               std::size_t offset, hipMemcpyKind kind) {
  return record(
      copy_from_symbol(destination, symbol, bytes, offset, kind, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyFromSymbolAsync(void* destination, const void* symbol, std::size_t bytes,
                                    std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return record(
      copy_from_symbol(destination, symbol, bytes, offset, kind, stream, Waiting::as_hip_does));
}

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  if (address == nullptr) return record(hipErrorInvalidValue);
  cass::amdgpu::Symbol variable;
  const int device = Device::current().ordinal;
  if (const auto error = Program::instance().variable(symbol, device, &variable);
      error != hipSuccess) {
    return record(error);
  }
  *address = variable.address;
  return hipSuccess;
}

hipError_t hipGetSymbolSize(std::size_t* size, const void* symbol) {
  if (size == nullptr) return record(hipErrorInvalidValue);
  cass::amdgpu::Symbol variable;
  const int device = Device::current().ordinal;
  if (const auto error = Program::instance().variable(symbol, device, &variable);
      error != hipSuccess) {
    return record(error);
  }
  *size = variable.size;
  return hipSuccess;
}

hipError_t hipMemset(void* destination, int value, std::size_t bytes) {
  return record(fill(destination, static_cast<std::uint32_t>(value), 1, bytes, nullptr, true));
}

hipError_t hipMemsetAsync(void* destination, int value, std::size_t bytes, hipStream_t stream) {
  return record(fill(destination, static_cast<std::uint32_t>(value), 1, bytes, stream, false));
}

hipError_t hipMemsetD8(hipDeviceptr_t destination, unsigned char value, std::size_t count) {
  return record(fill(destination, value, 1, count, nullptr, true));
}

hipError_t hipMemsetD8Async(hipDeviceptr_t destination, unsigned char value, std::size_t count,
                            hipStream_t stream) {
  return record(fill(destination, value, 1, count, stream, false));
}

hipError_t hipMemsetD16(hipDeviceptr_t destination, unsigned short value, std::size_t count) {
  return record(fill(destination, value, 2, count, nullptr, true));
}

hipError_t hipMemsetD16Async(hipDeviceptr_t destination, unsigned short value, std::size_t count,
                             hipStream_t stream) {
  return record(fill(destination, value, 2, count, stream, false));
}

hipError_t hipMemsetD32(hipDeviceptr_t destination, int value, std::size_t count) {
  return record(fill(destination, static_cast<std::uint32_t>(value), 4, count, nullptr, true));
}

hipError_t hipMemsetD32Async(hipDeviceptr_t destination, int value, std::size_t count,
                             hipStream_t stream) {
  return record(fill(destination, static_cast<std::uint32_t>(value), 4, count, stream, false));
}
