#include "image_resource.hpp"

#include "errors.hpp"

namespace cass::hip {
namespace {

struct Format {
  std::uint32_t code = 0;           // RDNA3 ISA, 9.7; 0: none
  std::uint32_t channel_type = 0;   // HSA_EXT_IMAGE_CHANNEL_TYPE_*, read by surf*Dread
  std::uint32_t channel_order = 0;  // HSA_EXT_IMAGE_CHANNEL_ORDER_*
  std::uint32_t bytes = 0;
};

enum Kind : unsigned { unorm, snorm, uint, sint, floating };

// Code of the first format of a width and count of channels, by numeric kind; 0 where there is
// none.
std::uint32_t code_of(unsigned bits, unsigned count, Kind kind) {
  const unsigned column = count == 1 ? 0 : count == 2 ? 1 : 2;
  constexpr std::uint32_t eight[3] = {1, 14, 42};
  constexpr std::uint32_t sixteen[3] = {7, 23, 51};
  constexpr std::uint32_t whole[3] = {20, 48, 61};
  constexpr std::uint32_t small_step[] = {0, 1, 4, 5, 6};
  if (bits == 8) return kind == floating ? 0 : eight[column] + small_step[kind];
  if (bits == 16) return sixteen[column] + small_step[kind];
  return kind < uint ? 0 : whole[column] + (kind - uint);
}

// From 8, 16 and 32 bits, by numeric kind.
std::uint32_t channel_type_of(unsigned bits, Kind kind) {
  const std::uint32_t step = bits == 8 ? 0 : bits == 16 ? 1 : 2;
  switch (kind) {
    case snorm: return step;
    case unorm: return 2 + step;
    case sint: return 8 + step;
    case uint: return 11 + step;
    case floating: break;
  }
  return bits == 16 ? 14 : 15;
}

Format format_of(const hipChannelFormatDesc& channels, bool normalized) {
  const int widths[] = {channels.x, channels.y, channels.z, channels.w};
  unsigned count = 0;
  while (count < 4 && widths[count] != 0) ++count;
  if (count == 0 || count == 3) return {};
  for (unsigned k = 0; k < 4; ++k) {
    if (widths[k] != (k < count ? channels.x : 0)) return {};
  }
  if (channels.x != 8 && channels.x != 16 && channels.x != 32) return {};
  const auto bits = static_cast<unsigned>(channels.x);
  Kind kind = floating;
  const bool as_float = normalized && bits < 32;
  if (channels.f == hipChannelFormatKindSigned) kind = as_float ? snorm : sint;
  if (channels.f == hipChannelFormatKindUnsigned) kind = as_float ? unorm : uint;
  constexpr std::uint32_t orders[] = {0, 1, 3, 0, 8};  // R, RG, RGBA
  return {code_of(bits, count, kind), channel_type_of(bits, kind), orders[count], bits / 8 * count};
}

// Components that the format lacks: 0 for colour, 1 for alpha.
std::uint32_t selects_of(std::uint32_t order) {
  constexpr std::uint32_t zero = 0, one = 1, x = 4, y = 5, z = 6, w = 7;
  const std::uint32_t second = order == 1 ? zero : y;
  return x | second << 3 | (order == 8 ? z : zero) << 6 | (order == 8 ? w : one) << 9;
}

constexpr std::size_t largest_width = 16384;
constexpr std::size_t largest_depth = 8192;

void encode_buffer(const ImageView& view, const Format& format, ImageWords& words) {
  const auto address = reinterpret_cast<std::uint64_t>(view.data);
  words[0] = static_cast<std::uint32_t>(address);
  words[1] = (static_cast<std::uint32_t>(address >> 32) & 0xFFFF) | format.bytes << 16;
  words[2] = static_cast<std::uint32_t>(view.width);
  words[3] = selects_of(format.channel_order) | format.code << 12;
}

std::uint32_t type_of(const ImageView& view) {
  enum : std::uint32_t { one = 8, two = 9, three = 10, one_array = 12, two_array = 13 };
  if (view.layered) return view.height == 0 ? one_array : two_array;
  if (view.depth != 0) return three;
  return view.height == 0 ? one : two;
}

}  // namespace

hipError_t encode_image(const ImageView& view, bool normalized, ResourceLayout layout,
                        ImageWords& words) {
  const Format format = format_of(view.channels, normalized);
  if (format.code == 0) return hipErrorInvalidValue;
  words = {};
  words[8] = format.channel_type;
  words[9] = format.channel_order;
  words[10] = static_cast<std::uint32_t>(view.width);
  if (view.width == 0) return hipErrorInvalidValue;
  if (view.linear) {
    if (view.width > 0xFFFF'FFFF) return hipErrorInvalidValue;
    encode_buffer(view, format, words);
    return hipSuccess;
  }
  const auto address = reinterpret_cast<std::uint64_t>(view.data);
  const bool fits = view.width <= largest_width && view.height <= largest_width &&
                    view.depth <= largest_depth && view.pitch <= largest_width;
  if (!fits || address % image_alignment != 0) return hipErrorInvalidValue;
  const auto width = static_cast<std::uint32_t>(view.width - 1);
  const auto height = view.height == 0 ? 0 : static_cast<std::uint32_t>(view.height - 1);
  words[0] = static_cast<std::uint32_t>(address >> 8);
  const unsigned format_shift = layout == ResourceLayout::rdna4 ? 17 : 20;
  words[1] = static_cast<std::uint32_t>(address >> 40) | format.code << format_shift | width << 30;
  words[2] = width >> 2 | height << 14;
  words[3] = selects_of(format.channel_order) | type_of(view) << 28;
  words[4] = static_cast<std::uint32_t>((view.depth != 0 ? view.depth : view.pitch) - 1);
  return hipSuccess;
}

hipError_t encode_sampler(const hipTextureDesc& description, ResourceLayout layout,
                          SamplerWords& words) {
  enum : std::uint32_t { wrap = 0, mirror = 1, clamp_last = 2, clamp_border = 6 };
  words = {};
  for (unsigned k = 0; k < 3; ++k) {
    std::uint32_t mode = clamp_last;
    switch (description.addressMode[k]) {
      // Repetition is defined for normalized coordinates only.
      case hipAddressModeWrap: mode = description.normalizedCoords != 0 ? wrap : clamp_last; break;
      case hipAddressModeMirror:
        mode = description.normalizedCoords != 0 ? mirror : clamp_last;
        break;
      case hipAddressModeClamp: break;
      case hipAddressModeBorder: mode = clamp_border; break;
      default: return hipErrorInvalidValue;
    }
    words[0] |= mode << 3 * k;
  }
  if (description.normalizedCoords == 0) words[0] |= 1U << 15;
  words[1] = layout == ResourceLayout::rdna4 ? 0x1FFFU << 13 : 0xFFFU << 12;  // the largest LOD
  if (description.filterMode == hipFilterModeLinear) words[2] = 1U << 20 | 1U << 22;
  return hipSuccess;
}

}  // namespace cass::hip
