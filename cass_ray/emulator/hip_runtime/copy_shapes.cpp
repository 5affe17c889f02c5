#include "copy_shapes.hpp"

#include "array.hpp"
#include "errors.hpp"
#include "memory.hpp"

namespace cass::hip {
namespace {

// One side of a copy: where its rows start and how far apart they are.
struct Side {
  std::byte* start = nullptr;
  std::size_t pitch = 0;
  std::size_t slice = 0;
};

hipError_t array_side(hipArray_const_t array, std::size_t x_bytes, std::size_t y, std::size_t z,
                      Side* side) {
  if (!is_array(array)) return hipErrorInvalidHandle;
  side->pitch = array->pitch();
  side->slice = array->slice_bytes();
  side->start = array->data + z * side->slice + y * side->pitch + x_bytes;
  return hipSuccess;
}

// `rows`: of a slice, for memory with a pitch.
Side pitched_side(const void* start, std::size_t pitch, std::size_t rows, std::size_t x_bytes,
                  std::size_t y, std::size_t z) {
  Side side;
  side.pitch = pitch;
  side.slice = pitch * rows;
  auto* base = const_cast<std::byte*>(static_cast<const std::byte*>(start));
  side.start = base == nullptr ? nullptr : base + z * side.slice + y * pitch + x_bytes;
  return side;
}

void set_sides(CopyRequest* request, const Side& destination, const Side& source) {
  request->destination = destination.start;
  request->shape.destination_pitch = destination.pitch;
  request->shape.destination_slice = destination.slice;
  request->source = source.start;
  request->shape.source_pitch = source.pitch;
  request->shape.source_slice = source.slice;
}

// One side of a driver-style structure.
struct DriverSide {
  hipMemoryType type;
  const void* host;
  const void* device;
  hipArray_const_t array;
  std::size_t pitch, rows, x_bytes, y, z;
};

hipError_t driver_side(const DriverSide& from, std::size_t width, std::size_t height, Side* side) {
  const auto pitch = from.pitch == 0 ? width + from.x_bytes : from.pitch;
  const auto rows = from.rows == 0 ? height + from.y : from.rows;
  switch (from.type) {
    case hipMemoryTypeArray: return array_side(from.array, from.x_bytes, from.y, from.z, side);
    case hipMemoryTypeHost:
      *side = pitched_side(from.host, pitch, rows, from.x_bytes, from.y, from.z);
      return hipSuccess;
    case hipMemoryTypeDevice:
    case hipMemoryTypeUnified:
    case hipMemoryTypeManaged:
      *side = pitched_side(from.device, pitch, rows, from.x_bytes, from.y, from.z);
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

}  // namespace

hipError_t request_of(const hipMemcpy3DParms& p, CopyRequest* request) {
  if ((p.srcArray != nullptr && p.srcPtr.ptr != nullptr) ||
      (p.dstArray != nullptr && p.dstPtr.ptr != nullptr)) {
    return hipErrorInvalidValue;
  }
  // Widths and x positions count elements where an array takes part, else bytes.
  const auto* array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  if (array != nullptr && !is_array(array)) return hipErrorInvalidHandle;
  const auto unit = array == nullptr ? 1 : array->element_bytes();
  request->kind = p.kind;
  request->shape.width = p.extent.width * unit;
  request->shape.height = p.extent.height;
  request->shape.depth = p.extent.depth;
  Side source;
  Side destination;
  if (p.srcArray != nullptr) {
    const auto x_bytes = p.srcPos.x * p.srcArray->element_bytes();
    const auto error = array_side(p.srcArray, x_bytes, p.srcPos.y, p.srcPos.z, &source);
    if (error != hipSuccess) return error;
  } else {
    source = pitched_side(p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.ysize, p.srcPos.x, p.srcPos.y,
                          p.srcPos.z);
  }
  if (p.dstArray != nullptr) {
    const auto x_bytes = p.dstPos.x * p.dstArray->element_bytes();
    const auto error = array_side(p.dstArray, x_bytes, p.dstPos.y, p.dstPos.z, &destination);
    if (error != hipSuccess) return error;
  } else {
    destination = pitched_side(p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.ysize, p.dstPos.x, p.dstPos.y,
                               p.dstPos.z);
  }
  set_sides(request, destination, source);
  return hipSuccess;
}

hipError_t request_of(const HIP_MEMCPY3D& p, CopyRequest* request) {
  Side source;
  Side destination;
  const DriverSide from{p.srcMemoryType, p.srcHost,     p.srcDevice, p.srcArray, p.srcPitch,
                        p.srcHeight,     p.srcXInBytes, p.srcY,      p.srcZ};
  const DriverSide to{p.dstMemoryType, p.dstHost,     p.dstDevice, p.dstArray, p.dstPitch,
                      p.dstHeight,     p.dstXInBytes, p.dstY,      p.dstZ};
  if (const auto error = driver_side(from, p.WidthInBytes, p.Height, &source);
      error != hipSuccess) {
    return error;
  }
  if (const auto error = driver_side(to, p.WidthInBytes, p.Height, &destination);
      error != hipSuccess) {
    return error;
  }
  request->shape.width = p.WidthInBytes;
  request->shape.height = p.Height;
  request->shape.depth = p.Depth;
  set_sides(request, destination, source);
  return hipSuccess;
}

hipError_t request_of(const hip_Memcpy2D& p, CopyRequest* request) {
  HIP_MEMCPY3D q{};
  q.srcXInBytes = p.srcXInBytes;
  q.srcY = p.srcY;
  q.srcMemoryType = p.srcMemoryType;
  q.srcHost = p.srcHost;
  q.srcDevice = p.srcDevice;
  q.srcArray = p.srcArray;
  q.srcPitch = p.srcPitch;
  q.dstXInBytes = p.dstXInBytes;
  q.dstY = p.dstY;
  q.dstMemoryType = p.dstMemoryType;
  q.dstHost = p.dstHost;
  q.dstDevice = p.dstDevice;
  q.dstArray = p.dstArray;
  q.dstPitch = p.dstPitch;
  q.WidthInBytes = p.WidthInBytes;
  q.Height = p.Height;
  q.Depth = 1;
  return request_of(q, request);
}

}  // namespace cass::hip
