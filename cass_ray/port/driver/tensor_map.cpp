// cuTensorMapEncodeTiled: what its text demands of the arguments (CUDA driver API, "Tensor Map
// Object Management"), and the map.
#include "tensor_map.hpp"

#include <cstring>

#include "result.hpp"

using namespace cass::cuda::driver;

namespace {

// CUtensorMapDataType, up to what is copied as it is: bytes of each.
constexpr std::array<std::uint8_t, 10> bytes_of_types = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
constexpr std::uint32_t first_of_floats = 6;

// CUtensorMapSwizzle: chunks of 16 bytes in a row of the pattern.
constexpr std::array<std::uint8_t, 4> chunks_of_swizzles = {1, 2, 4, 8};
constexpr std::uint64_t chunk_bytes = 16;

constexpr std::uint64_t most_elements = std::uint64_t{1} << 32U;
constexpr std::uint64_t stride_limit = std::uint64_t{1} << 40U;
constexpr std::uint32_t most_in_box = 256;
constexpr std::uint32_t most_steps = 8;

struct Axes {
  const std::uint64_t* sizes;
  const std::uint64_t* strides;  // from the second axis on
  const std::uint32_t* box;
  const std::uint32_t* steps;
};

bool is_axis(const Axes& given, std::uint32_t axis) {
  if (given.sizes[axis] == 0 || given.sizes[axis] > most_elements) return false;
  if (given.box[axis] == 0 || given.box[axis] > most_in_box) return false;
  if (given.steps[axis] == 0 || given.steps[axis] > most_steps) return false;
  if (axis == 0) return true;
  const auto stride = given.strides[axis - 1];
  return stride % chunk_bytes == 0 && stride < stride_limit;
}

}  // namespace

CUDA_API int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address,
                                    const std::uint64_t* sizes, const std::uint64_t* strides,
                                    const std::uint32_t* box, const std::uint32_t* steps,
                                    int interleave, int swizzle, int /*promotion*/, int fill) {
  if (map == nullptr || rank == 0 || rank > most_axes || sizes == nullptr || box == nullptr ||
      steps == nullptr || (rank > 1 && strides == nullptr)) {
    return invalid_value;
  }
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  if (place == 0 || place % chunk_bytes != 0) return invalid_value;
  if (interleave != 0) return unsupported("cuTensorMapEncodeTiled of interleaved layouts");
  if (type < 0 || static_cast<std::size_t>(type) >= bytes_of_types.size()) {
    return unsupported("cuTensorMapEncodeTiled of this type of elements");
  }
  if (swizzle < 0 || static_cast<std::size_t>(swizzle) >= chunks_of_swizzles.size()) {
    return unsupported("cuTensorMapEncodeTiled with this swizzle");
  }
  const auto bytes = bytes_of_types.at(static_cast<std::size_t>(type));
  const auto chunks = chunks_of_swizzles.at(static_cast<std::size_t>(swizzle));
  const Axes given{sizes, strides, box, steps};
  TensorMap made{};
  made.rank = static_cast<std::uint8_t>(rank);
  made.element_bytes = bytes;
  made.type = static_cast<std::uint8_t>(type);
  made.swizzle_chunks = chunks;
  made.is_nan_outside = fill != 0;
  made.address = place;
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    if (!is_axis(given, axis)) return invalid_value;
    made.box.at(axis) = static_cast<std::uint16_t>(box[axis]);
    made.steps.at(axis) = static_cast<std::uint8_t>(steps[axis]);
    made.sizes.at(axis) = sizes[axis];
    made.strides.at(axis) = axis == 0 ? bytes : strides[axis - 1];
  }
  const auto row_bytes = std::uint64_t{box[0]} * bytes;
  if (row_bytes % chunk_bytes != 0) return invalid_value;
  if (chunks > 1 && row_bytes > chunks * chunk_bytes) return invalid_value;
  if (fill != 0 && static_cast<std::uint32_t>(type) < first_of_floats) return invalid_value;
  std::memset(map, 0, 128);
  std::memcpy(map, &made, sizeof(made));
  return success;
}

CUDA_API int cuTensorMapReplaceAddress(void* map, void* address) {
  TensorMap known{};
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  if (map == nullptr || place == 0 || place % chunk_bytes != 0) return invalid_value;
  std::memcpy(&known, map, sizeof(known));
  if (known.magic != TensorMap{}.magic) return invalid_value;
  known.address = place;
  std::memcpy(map, &known, sizeof(known));
  return success;
}
