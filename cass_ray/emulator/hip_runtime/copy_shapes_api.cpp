// Entry points of allocations, copies and fills in two and three dimensions.
#include <hip/hip_runtime_api.h>

#include <algorithm>

#include "array.hpp"
#include "copy.hpp"
#include "copy_shapes.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "memory.hpp"

using namespace cass::hip;

namespace {

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

hipError_t submit(const CopyRequest& request, hipStream_t handle, Waiting waiting) {
  const auto stream = Device::stream(handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  return submit_copy(stream, request, waiting);
}

CopyRequest pitched(void* destination, std::size_t destination_pitch, const void* source,
                    std::size_t source_pitch, std::size_t width, std::size_t height,
                    hipMemcpyKind kind) {
  auto request = CopyRequest::linear(destination, source, width, kind);
  request.shape.height = height;
  request.shape.destination_pitch = destination_pitch;
  request.shape.source_pitch = source_pitch;
  return request;
}

template <typename Parameters>
hipError_t submit_shape(const Parameters* parameters, hipStream_t stream, Waiting waiting) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  CopyRequest request;
  if (const auto error = request_of(*parameters, &request); error != hipSuccess) return error;
  return submit(request, stream, waiting);
}

hipError_t copy_2d(const CopyRequest& request, hipStream_t stream, Waiting waiting) {
  const auto& shape = request.shape;
  if (shape.empty()) return hipSuccess;
  if (shape.width > shape.destination_pitch || shape.width > shape.source_pitch) {
    return hipErrorInvalidPitchValue;
  }
  return submit(request, stream, waiting);
}

hipError_t to_array(hipArray_t array, std::size_t x_bytes, std::size_t y, const void* source,
                    std::size_t pitch, std::size_t width, std::size_t height, hipMemcpyKind kind,
                    hipStream_t stream, Waiting waiting) {
  if (!is_array(array)) return hipErrorInvalidHandle;
  if (x_bytes + width > array->pitch() || y + height > array->rows()) return hipErrorInvalidValue;
  return copy_2d(pitched(array->data + y * array->pitch() + x_bytes, array->pitch(), source, pitch,
                         width, height, kind),
                 stream, waiting);
}

hipError_t from_array(void* destination, std::size_t pitch, hipArray_const_t array,
                      std::size_t x_bytes, std::size_t y, std::size_t width, std::size_t height,
                      hipMemcpyKind kind, hipStream_t stream, Waiting waiting) {
  if (!is_array(array)) return hipErrorInvalidHandle;
  if (x_bytes + width > array->pitch() || y + height > array->rows()) return hipErrorInvalidValue;
  return copy_2d(pitched(destination, pitch, array->data + y * array->pitch() + x_bytes,
                         array->pitch(), width, height, kind),
                 stream, waiting);
}

// Bytes from `offset` on of an array seen as one row; null where that is outside.
std::byte* part_of_array(hipArray_const_t array, std::size_t offset, std::size_t bytes) {
  if (!is_array(array)) return nullptr;
  const auto size = array->slice_bytes() * array->slices();
  return offset <= size && bytes <= size - offset ? array->data + offset : nullptr;
}

hipError_t linear(void* destination, const void* source, std::size_t bytes, hipMemcpyKind kind,
                  hipStream_t stream, Waiting waiting) {
  if (destination == nullptr || source == nullptr) return hipErrorInvalidValue;
  return submit(CopyRequest::linear(destination, source, bytes, kind), stream, waiting);
}

hipError_t fill_3d(hipPitchedPtr target, int value, hipExtent extent, hipStream_t handle,
                   bool wait) {
  const auto stream = Device::stream(handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  if (extent.width > target.pitch && extent.height > 1) return hipErrorInvalidValue;
  FillRequest request;
  request.destination = static_cast<std::byte*>(target.ptr);
  request.value = static_cast<std::uint32_t>(value);
  request.width = extent.width;
  request.height = extent.height;
  request.depth = extent.depth;
  request.pitch = target.pitch;
  request.slice = target.pitch * std::max(target.ysize, extent.depth > 1 ? extent.height : 0);
  return submit_fill(stream, request, wait);
}

}  // namespace

hipError_t hipMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                          std::size_t height) {
  if (address == nullptr || pitch == nullptr) return record(hipErrorInvalidValue);
  if (width == 0 || height == 0) {
    *address = nullptr;
    return hipSuccess;
  }
  *pitch = round_up(width, pitch_alignment);
  return hipMalloc(address, *pitch * height);
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* address, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element_bytes) {
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) {
    return record(hipErrorInvalidValue);
  }
  return hipMallocPitch(address, pitch, width, height);
}

hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  if (pointer == nullptr) return record(hipErrorInvalidValue);
  *pointer = {nullptr, 0, extent.width, extent.height};
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return hipSuccess;
  pointer->pitch = round_up(extent.width, pitch_alignment);
  return hipMalloc(&pointer->ptr, pointer->pitch * extent.height * extent.depth);
}

hipError_t hipMemcpy2D(void* destination, std::size_t destination_pitch, const void* source,
                       std::size_t source_pitch, std::size_t width, std::size_t height,
                       hipMemcpyKind kind) {
  return record(
      copy_2d(pitched(destination, destination_pitch, source, source_pitch, width, height, kind),
              nullptr, Waiting::until_done));
}

hipError_t hipMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source,
                            std::size_t source_pitch, std::size_t width, std::size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return record(
      copy_2d(pitched(destination, destination_pitch, source, source_pitch, width, height, kind),
              stream, Waiting::as_hip_does));
}

hipError_t hipMemcpy2DToArray(hipArray_t array, std::size_t x_bytes, std::size_t y,
                              const void* source, std::size_t pitch, std::size_t width,
                              std::size_t height, hipMemcpyKind kind) {
  return record(to_array(array, x_bytes, y, source, pitch, width, height, kind, nullptr,
                         Waiting::until_done));
}

hipError_t hipMemcpy2DToArrayAsync(hipArray_t array, std::size_t x_bytes, std::size_t y,
                                   const void* source, std::size_t pitch, std::size_t width,
                                   std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return record(to_array(array, x_bytes, y, source, pitch, width, height, kind, stream,
                         Waiting::as_hip_does));
}

hipError_t hipMemcpy2DFromArray(void* destination, std::size_t pitch, hipArray_const_t array,
                                std::size_t x_bytes, std::size_t y, std::size_t width,
                                std::size_t height, hipMemcpyKind kind) {
  return record(from_array(destination, pitch, array, x_bytes, y, width, height, kind, nullptr,
                           Waiting::until_done));
}

hipError_t hipMemcpy2DFromArrayAsync(void* destination, std::size_t pitch, hipArray_const_t array,
                                     std::size_t x_bytes, std::size_t y, std::size_t width,
                                     std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return record(from_array(destination, pitch, array, x_bytes, y, width, height, kind, stream,
                           Waiting::as_hip_does));
}

hipError_t hipMemcpy2DArrayToArray(hipArray_t destination, std::size_t destination_x,
                                   std::size_t destination_y, hipArray_const_t source,
                                   std::size_t source_x, std::size_t source_y, std::size_t width,
                                   std::size_t height, hipMemcpyKind kind) {
  if (!is_array(source)) return record(hipErrorInvalidHandle);
  const auto* start = source->data + source_y * source->pitch() + source_x;
  return record(to_array(destination, destination_x, destination_y, start, source->pitch(), width,
                         height, kind, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyToArray(hipArray_t array, std::size_t x_bytes, std::size_t y,
                            const void* source, std::size_t bytes, hipMemcpyKind kind) {
  if (!is_array(array)) return record(hipErrorInvalidHandle);
  auto* start = part_of_array(array, y * array->pitch() + x_bytes, bytes);
  return record(linear(start, source, bytes, kind, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyFromArray(void* destination, hipArray_const_t array, std::size_t x_bytes,
                              std::size_t y, std::size_t bytes, hipMemcpyKind kind) {
  if (!is_array(array)) return record(hipErrorInvalidHandle);
  const auto* start = part_of_array(array, y * array->pitch() + x_bytes, bytes);
  return record(linear(destination, start, bytes, kind, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyHtoA(hipArray_t array, std::size_t offset, const void* source,
                         std::size_t bytes) {
  return record(linear(part_of_array(array, offset, bytes), source, bytes, hipMemcpyHostToDevice,
                       nullptr, Waiting::until_done));
}

hipError_t hipMemcpyAtoH(void* destination, hipArray_t array, std::size_t offset,
                         std::size_t bytes) {
  return record(linear(destination, part_of_array(array, offset, bytes), bytes,
                       hipMemcpyDeviceToHost, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyAtoD(hipDeviceptr_t destination, hipArray_t array, std::size_t offset,
                         std::size_t bytes) {
  return record(linear(destination, part_of_array(array, offset, bytes), bytes,
                       hipMemcpyDeviceToDevice, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyDtoA(hipArray_t array, std::size_t offset, hipDeviceptr_t source,
                         std::size_t bytes) {
  return record(linear(part_of_array(array, offset, bytes), source, bytes, hipMemcpyDeviceToDevice,
                       nullptr, Waiting::until_done));
}

hipError_t hipMemcpyAtoA(hipArray_t destination, std::size_t destination_offset, hipArray_t source,
                         std::size_t source_offset, std::size_t bytes) {
  return record(linear(part_of_array(destination, destination_offset, bytes),
                       part_of_array(source, source_offset, bytes), bytes, hipMemcpyDeviceToDevice,
                       nullptr, Waiting::until_done));
}

hipError_t hipMemcpyHtoAAsync(hipArray_t array, std::size_t offset, const void* source,
                              std::size_t bytes, hipStream_t stream) {
  return record(linear(part_of_array(array, offset, bytes), source, bytes, hipMemcpyHostToDevice,
                       stream, Waiting::as_hip_does));
}

hipError_t hipMemcpyAtoHAsync(void* destination, hipArray_t array, std::size_t offset,
                              std::size_t bytes, hipStream_t stream) {
  return record(linear(destination, part_of_array(array, offset, bytes), bytes,
                       hipMemcpyDeviceToHost, stream, Waiting::as_hip_does));
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters) {
  return record(submit_shape(parameters, nullptr, Waiting::until_done));
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return record(submit_shape(parameters, stream, Waiting::as_hip_does));
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* parameters) {
  return record(submit_shape(parameters, nullptr, Waiting::until_done));
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* parameters, hipStream_t stream) {
  return record(submit_shape(parameters, stream, Waiting::as_hip_does));
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D* parameters) {
  return record(submit_shape(parameters, nullptr, Waiting::until_done));
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* parameters, hipStream_t stream) {
  return record(submit_shape(parameters, stream, Waiting::as_hip_does));
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* parameters) {
  return hipMemcpyParam2D(parameters);
}

hipError_t hipMemset2D(void* destination, std::size_t pitch, int value, std::size_t width,
                       std::size_t height) {
  return record(
      fill_3d({destination, pitch, width, height}, value, {width, height, 1}, nullptr, true));
}

hipError_t hipMemset2DAsync(void* destination, std::size_t pitch, int value, std::size_t width,
                            std::size_t height, hipStream_t stream) {
  return record(
      fill_3d({destination, pitch, width, height}, value, {width, height, 1}, stream, false));
}

hipError_t hipMemset3D(hipPitchedPtr target, int value, hipExtent extent) {
  return record(fill_3d(target, value, extent, nullptr, true));
}

hipError_t hipMemset3DAsync(hipPitchedPtr target, int value, hipExtent extent, hipStream_t stream) {
  return record(fill_3d(target, value, extent, stream, false));
}
