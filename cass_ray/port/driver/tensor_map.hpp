// Tensor maps: 128 bytes that CUDA's programs never look into, in a layout of ours, which lifted
// code reads (`lift/llvm/device/tensor_map.hip`).
#pragma once

#include <array>
#include <cstdint>

namespace cass::cuda::driver {

constexpr std::uint32_t most_axes = 5;

struct TensorMap {
  std::uint32_t magic = 0x50414d54;
  std::uint8_t rank, element_bytes, type, swizzle_chunks;
  std::array<std::uint16_t, most_axes> box;
  std::array<std::uint8_t, most_axes> steps;
  std::uint8_t is_nan_outside;
  std::uint64_t address;
  std::array<std::uint64_t, most_axes> sizes;
  std::array<std::uint64_t, most_axes> strides;  // of the first axis: an element's bytes
  // Of pixels (im2col): their box, from each image's first and last one.
  std::array<std::int16_t, most_axes - 2> lower, upper;
  std::uint8_t is_im2col;
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace cass::cuda::driver
