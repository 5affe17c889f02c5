// The resources that image instructions read: descriptors of images and samplers (RDNA3 ISA, 10.5
// and 10.6), and the texels that indices name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.hpp"
#include "texel_format.hpp"

namespace cass::amdgpu {

// DIM of an image instruction.
enum Dimension : std::uint8_t { one, two, three, cube, one_array, two_array };

struct Image {
  std::byte* base;
  TexelFormat format;
  unsigned selects;
  std::int64_t size[3];     // texels along x, y, z
  std::int64_t pitch;       // texels
  std::int64_t first_layer;
  std::int64_t layers;
  bool supported;
};

// The image that the resource at `words` describes.
Image image_of(const std::uint32_t* words, unsigned dimension, InstructionSet set);

struct Sampler {
  unsigned address_mode[3];
  bool unnormalized;
  bool truncates;
  bool linear;
  bool linear_z;
  unsigned border;
};

// The sampler that the resource at `words` describes.
Sampler sampler_of(const std::uint32_t* words);

constexpr std::int64_t on_border = -1;

// The texel that index `at` of `size` names in an address mode of a sampler, or on_border.
std::int64_t wrapped(std::int64_t at, std::int64_t size, unsigned mode);

}  // namespace cass::amdgpu
