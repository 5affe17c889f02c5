#include "image_resource.hpp"

namespace cass::amdgpu {
namespace {

// Where the image resource differs between instruction sets: shifts and masks of what lies behind.
struct ResourceLayout {
  unsigned format_shift;                     // in word 1
  std::uint32_t width, height, depth, pitch;  // width: its upper part
  std::uint32_t levels[2];                   // in words 1 and 3: of mipmaps
};

// RDNA3 ISA, 10.5.
constexpr ResourceLayout gfx11_resource{20, 0xFFF, 0x3FFF, 0x1FFF, 0x3FFF, {0, 0xFFU << 12}};
// AMD's runtime: ROCR, image/resource_gfx12.h.
constexpr ResourceLayout gfx12_resource{17,     0x3FFF, 0xFFFF,
                                        0x3FFF, 0xFFFF, {0x1FU << 25, 0x1FU << 15}};

const ResourceLayout& layout_of(InstructionSet set) {
  return set == InstructionSet::gfx12 ? gfx12_resource : gfx11_resource;
}

}  // namespace

// A 1D array has its layers where a 2D image has rows.
Image image_of(const std::uint32_t* words, unsigned dimension, InstructionSet set) {
  const ResourceLayout& layout = layout_of(set);
  constexpr unsigned type_3d = 10;
  constexpr unsigned type_1d_array = 12;
  constexpr unsigned type_2d_array = 13;
  const unsigned type = words[3] >> 28;
  const bool array = type == type_1d_array || type == type_2d_array;
  Image image{};
  image.base = reinterpret_cast<std::byte*>((words[0] | std::uint64_t{words[1] & 0xFF} << 32) << 8);
  image.format = texel_format(words[1] >> layout.format_shift & 0xFF);
  image.selects = words[3] & 0xFFF;
  image.size[0] = (words[1] >> 30 | (words[2] & layout.width) << 2) + 1;
  image.size[1] = (words[2] >> 14 & layout.height) + 1;
  const std::int64_t depth = (words[4] & layout.depth) + 1;
  image.size[2] = type == type_3d ? depth : 1;
  image.layers = array ? depth : 1;
  image.first_layer = array ? words[4] >> 16 & layout.depth : 0;
  image.pitch = type == type_3d || array ? image.size[0] : (words[4] & layout.pitch) + 1;
  const unsigned levels = (words[1] & layout.levels[0]) | (words[3] & layout.levels[1]);
  const unsigned tiling = words[3] >> 20 & 0x1F;
  image.supported = image.format.count != 0 && levels == 0 && tiling == 0 && dimension != cube;
  return image;
}

// RDNA3 ISA, 10.6: the sampler resource.
Sampler sampler_of(const std::uint32_t* words) {
  Sampler sampler{};
  for (unsigned k = 0; k < 3; ++k) sampler.address_mode[k] = words[0] >> 3 * k & 7;
  sampler.unnormalized = (words[0] >> 15 & 1) != 0;
  sampler.truncates = (words[0] >> 27 & 1) != 0;
  sampler.linear = (words[2] >> 20 & 1) != 0;
  const unsigned z_filter = words[2] >> 24 & 3;
  sampler.linear_z = z_filter == 0 ? sampler.linear : z_filter == 2;
  sampler.border = words[3] >> 30;
  return sampler;
}

std::int64_t wrapped(std::int64_t at, std::int64_t size, unsigned mode) {
  enum : unsigned {
    wrap,
    mirror,
    clamp,
    mirror_once,
    clamp_half_border,
    mirror_once_half_border,
    clamp_border,
    mirror_once_border
  };
  const auto modulo = [](std::int64_t value, std::int64_t by) { return (value % by + by) % by; };
  const auto last = [size](std::int64_t value) {
    return value < 0 ? 0 : value >= size ? size - 1 : value;
  };
  const std::int64_t mirrored = at < 0 ? -1 - at : at;
  switch (mode) {
    case wrap: return modulo(at, size);
    case mirror: {
      const std::int64_t place = modulo(at, 2 * size);
      return place < size ? place : 2 * size - 1 - place;
    }
    case clamp: return last(at);
    case mirror_once: return last(mirrored);
    case clamp_half_border:
    case clamp_border: return at >= 0 && at < size ? at : on_border;
    default: return mirrored < size ? mirrored : on_border;
  }
}

}  // namespace cass::amdgpu
