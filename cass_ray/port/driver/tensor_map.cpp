// cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col: what their texts demand of the arguments (CUDA
// driver API, "Tensor Map Object Management"), and the map.
#include "tensor_map.hpp"

#include <cstring>
#include <string>

#include "result.hpp"

using namespace cass::cuda::driver;

namespace {

// CUtensorMapDataType, up to what is packed in less than a byte: bytes of each.
constexpr std::array<std::uint8_t, 13> bytes_of_types = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr std::uint32_t first_of_floats = 6;

// CUtensorMapSwizzle: chunks of 16 bytes in a row of the pattern.
constexpr std::array<std::uint8_t, 4> chunks_of_swizzles = {1, 2, 4, 8};
constexpr std::uint64_t chunk_bytes = 16;

constexpr std::uint64_t most_elements = std::uint64_t{1} << 32U;
constexpr std::uint64_t stride_limit = std::uint64_t{1} << 40U;
constexpr std::uint32_t most_in_box = 256;
constexpr std::uint32_t most_steps = 8;

constexpr std::uint32_t most_channels = 256;
constexpr std::uint32_t most_pixels = 1024;

// What both kinds of maps are made of.
struct Tensor {
  int type;
  std::uint32_t rank;
  void* address;
  const std::uint64_t* sizes;
  const std::uint64_t*
      strides;  // from the second axis on; Nvidia's driver wants them of one axis too
  const std::uint32_t* steps;
  int interleave, swizzle, fill;
};

// Why a tensor cannot be in a map that is asked for by `call`, or success; the common part of the
// map.
int describe(TensorMap& made, const Tensor& given, const std::string& call) {
  if (given.rank == 0 || given.rank > most_axes || given.sizes == nullptr ||
      given.steps == nullptr || given.strides == nullptr) {
    return invalid_value;
  }
  made.address = reinterpret_cast<std::uintptr_t>(given.address);
  if (made.address == 0 || made.address % chunk_bytes != 0) return invalid_value;
  const auto refused = [&](const char* what) { return unsupported(call + what); };
  if (given.interleave != 0) return refused(" of interleaved layouts");
  if (given.type < 0 || static_cast<std::size_t>(given.type) >= bytes_of_types.size()) {
    return refused(" of this type of elements");
  }
  if (given.swizzle < 0 || static_cast<std::size_t>(given.swizzle) >= chunks_of_swizzles.size()) {
    return refused(" with this swizzle");
  }
  made.rank = static_cast<std::uint8_t>(given.rank);
  made.element_bytes = bytes_of_types.at(static_cast<std::size_t>(given.type));
  made.type = static_cast<std::uint8_t>(given.type);
  made.swizzle_chunks = chunks_of_swizzles.at(static_cast<std::size_t>(given.swizzle));
  made.is_nan_outside = given.fill != 0;
  if (given.fill != 0 && made.type < first_of_floats) return invalid_value;
  for (std::uint32_t axis = 0; axis < given.rank; ++axis) {
    const auto stride = axis == 0 ? made.element_bytes : given.strides[axis - 1];
    if (axis > 0 && (stride % chunk_bytes != 0 || stride >= stride_limit)) return invalid_value;
    if (given.sizes[axis] == 0 || given.sizes[axis] > most_elements) return invalid_value;
    if (given.steps[axis] == 0 || given.steps[axis] > most_steps) return invalid_value;
    // That of the first axis is ignored where nothing is interleaved, as the text says.
    made.steps.at(axis) = axis == 0 ? 1 : static_cast<std::uint8_t>(given.steps[axis]);
    made.sizes.at(axis) = given.sizes[axis];
    made.strides.at(axis) = stride;
  }
  return success;
}

bool is_row(const TensorMap& made) {
  const auto bytes = std::uint64_t{made.box[0]} * made.element_bytes;
  return bytes % chunk_bytes == 0 &&
         (made.swizzle_chunks == 1 || bytes <= made.swizzle_chunks * chunk_bytes);
}

int write(void* map, const TensorMap& made) {
  std::memset(map, 0, 128);
  std::memcpy(map, &made, sizeof(made));
  return success;
}

}  // namespace

CUDA_API int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address,
                                    const std::uint64_t* sizes, const std::uint64_t* strides,
                                    const std::uint32_t* box, const std::uint32_t* steps,
                                    int interleave, int swizzle, int /*promotion*/, int fill) {
  if (map == nullptr || box == nullptr) return invalid_value;
  TensorMap made{};
  const Tensor given{type, rank, address, sizes, strides, steps, interleave, swizzle, fill};
  if (const auto result = describe(made, given, "cuTensorMapEncodeTiled"); result != success) {
    return result;
  }
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    if (box[axis] == 0 || box[axis] > most_in_box) return invalid_value;
    made.box.at(axis) = static_cast<std::uint16_t>(box[axis]);
  }
  if (!is_row(made)) return invalid_value;
  return write(map, made);
}

CUDA_API int cuTensorMapEncodeIm2col(void* map, int type, std::uint32_t rank, void* address,
                                     const std::uint64_t* sizes, const std::uint64_t* strides,
                                     const int* lower, const int* upper, std::uint32_t channels,
                                     std::uint32_t pixels, const std::uint32_t* steps,
                                     int interleave, int swizzle, int /*promotion*/, int fill) {
  if (map == nullptr || lower == nullptr || upper == nullptr || rank < 3) return invalid_value;
  TensorMap made{};
  const Tensor given{type, rank, address, sizes, strides, steps, interleave, swizzle, fill};
  if (const auto result = describe(made, given, "cuTensorMapEncodeIm2col"); result != success) {
    return result;
  }
  if (channels == 0 || channels > most_channels || pixels == 0 || pixels > most_pixels) {
    return invalid_value;
  }
  made.is_im2col = 1;
  made.box[0] = static_cast<std::uint16_t>(channels);
  made.box[1] = static_cast<std::uint16_t>(pixels);
  if (!is_row(made)) return invalid_value;
  const auto spatial = rank - 2;
  const int limit = spatial == 1 ? 32768 : spatial == 2 ? 128 : 16;
  for (std::uint32_t axis = 0; axis < spatial; ++axis) {
    // In the order of the tensor's axes, so width first (CUTLASS's `lower_corner_whd`), though the
    // text says depth, height, width: on an H100 maps with a corner of each axis say so.
    const int low = lower[axis], high = upper[axis];
    if (low < -limit || low >= limit || high < -limit || high >= limit) return invalid_value;
    if (static_cast<std::int64_t>(sizes[axis + 1]) + high - low <= 0) return invalid_value;
    made.lower.at(axis) = static_cast<std::int16_t>(low);
    made.upper.at(axis) = static_cast<std::int16_t>(high);
  }
  return write(map, made);
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
