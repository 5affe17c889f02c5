// Copies and values of two and three dimensions.
#include "result.hpp"

using namespace cass::cuda::driver;

namespace {

// CUmemorytype of cuda.h.
enum MemoryType : int { of_host = 1, of_device = 2, of_array = 3, of_any = 4 };

// CUDA_MEMCPY2D of cuda.h.
struct Copy2D {
  struct Side {
    std::size_t x_bytes, y;
    MemoryType type;
    void *host, *device;
    void* array;
    std::size_t pitch;
  } source, destination;
  std::size_t width_bytes, height;
};

// CUDA_MEMCPY3D of cuda.h.
struct Copy3D {
  struct Side {
    std::size_t x_bytes, y, z, level;
    MemoryType type;
    void *host, *device;
    void *array, *reserved;
    std::size_t pitch, height;
  } source, destination;
  std::size_t width_bytes, height, depth;
};

// Where a side begins, and how far apart its rows and slices are.
int place(const Copy3D::Side& side, const Copy3D& copy, hipPitchedPtr& memory, hipPos& position) {
  if (side.type == of_array) return unsupported("a copy of a CUarray");
  if (side.type != of_host && side.type != of_device && side.type != of_any) return invalid_value;
  const auto width = side.x_bytes + copy.width_bytes;
  const auto pitch = side.pitch != 0 ? side.pitch : width;
  const auto rows = side.height != 0 ? side.height : side.y + copy.height;
  if (pitch < width || rows < side.y + copy.height) return invalid_value;
  memory = {side.type == of_host ? side.host : side.device, pitch, pitch, rows};
  position = {side.x_bytes, side.y, side.z};
  return success;
}

int copy(const Copy3D* given, hipStream_t stream, bool waits) {
  if (given == nullptr) return invalid_value;
  hipMemcpy3DParms request{};
  int result = place(given->source, *given, request.srcPtr, request.srcPos);
  if (result == success) result = place(given->destination, *given, request.dstPtr, request.dstPos);
  if (result != success) return result;
  if (given->width_bytes == 0 || given->height == 0 || given->depth == 0) return success;
  request.extent = {given->width_bytes, given->height, given->depth};
  request.kind = hipMemcpyDefault;
  return finish(waits ? hipMemcpy3D(&request) : hipMemcpy3DAsync(&request, stream));
}

Copy3D::Side as_3d(const Copy2D::Side& side) {
  return {side.x_bytes, side.y,     0,       0,          side.type, side.host,
          side.device,  side.array, nullptr, side.pitch, 0};
}

int copy(const Copy2D* given, hipStream_t stream, bool waits) {
  if (given == nullptr) return invalid_value;
  const Copy3D whole{as_3d(given->source), as_3d(given->destination), given->width_bytes,
                     given->height, 1};
  return copy(&whole, stream, waits);
}

// Rows of `width` values; `set` writes those of one.
template <class Set>
int set_rows(char* to, std::size_t pitch, std::size_t bytes_of_row, std::size_t height, Set set) {
  if (to == nullptr || (height > 1 && pitch < bytes_of_row)) return invalid_value;
  for (std::size_t row = 0; row < height && bytes_of_row > 0; ++row) {
    if (const int result = finish(set(to + row * pitch)); result != success) return result;
  }
  return success;
}

}  // namespace

CUDA_API int cuMemcpy2D_v2(const Copy2D* given) { return copy(given, nullptr, true); }
CUDA_API int cuMemcpy2DUnaligned_v2(const Copy2D* given) { return copy(given, nullptr, true); }
CUDA_API int cuMemcpy2DAsync_v2(const Copy2D* given, hipStream_t stream) {
  return copy(given, stream, false);
}
CUDA_API int cuMemcpy3D_v2(const Copy3D* given) { return copy(given, nullptr, true); }
CUDA_API int cuMemcpy3DAsync_v2(const Copy3D* given, hipStream_t stream) {
  return copy(given, stream, false);
}

#define MEMSET_2D(bits, Value)                                                                     \
  CUDA_API int cuMemsetD2D##bits##_v2(char* to, std::size_t pitch, Value value, std::size_t width, \
                                      std::size_t height) {                                        \
    return set_rows(to, pitch, width * sizeof(Value), height,                                      \
                    [&](char* row) { return hipMemsetD##bits(row, value, width); });               \
  }                                                                                                \
  CUDA_API int cuMemsetD2D##bits##Async(char* to, std::size_t pitch, Value value,                  \
                                        std::size_t width, std::size_t height,                     \
                                        hipStream_t stream) {                                      \
    return set_rows(to, pitch, width * sizeof(Value), height, [&](char* row) {                     \
      return hipMemsetD##bits##Async(row, value, width, stream);                                   \
    });                                                                                            \
  }
MEMSET_2D(8, unsigned char)
MEMSET_2D(16, unsigned short)
MEMSET_2D(32, unsigned)
