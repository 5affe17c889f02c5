// What the device finds at a texture or surface object: an image resource of 12 dwords, then a
// sampler of 8 (hip/texture_types.h; contents: RDNA3 ISA, 10.5 and 10.6; of RDNA4 what AMD's
// runtime writes: ROCR, image/resource_gfx12.h).
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace cass::hip {

// Pixels in memory: a HIP array, pitched or linear memory.
struct ImageView {
  std::byte* data = nullptr;
  hipChannelFormatDesc channels{};
  std::size_t width = 0;   // elements
  std::size_t height = 0;  // 0: one dimension
  std::size_t depth = 0;   // 0: one or two dimensions; layers where `layered`
  std::size_t pitch = 0;   // elements between rows
  bool layered = false;
  bool linear = false;     // for tex1Dfetch: a buffer
};

using ImageWords = std::array<std::uint32_t, 12>;
using SamplerWords = std::array<std::uint32_t, 8>;

// Addresses of images: multiples of this.
inline constexpr std::size_t image_alignment = 256;

// Which bits the device looks at.
enum class ResourceLayout { rdna3, rdna4 };

// hipErrorInvalidValue for a format that textures do not have, sizes beyond the device's, or an
// address that is not aligned. `normalized`: 8 and 16 bit integers read as floats.
hipError_t encode_image(const ImageView& view, bool normalized, ResourceLayout layout,
                        ImageWords& words);

hipError_t encode_sampler(const hipTextureDesc& description, ResourceLayout layout,
                          SamplerWords& words);

}  // namespace cass::hip
