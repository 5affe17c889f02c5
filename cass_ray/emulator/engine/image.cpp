#include "image.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "aperture.hpp"
#include "image_resource.hpp"
#include "machine_services.hpp"
#include "program.hpp"
#include "texel_format.hpp"
#include "wave.hpp"

namespace cass::amdgpu {
namespace {

unsigned coordinate_count(unsigned dimension) {
  switch (dimension) {
    case one: return 1;
    case two:
    case one_array: return 2;
    default: return 3;
  }
}

bool is_array(unsigned dimension) { return dimension == one_array || dimension == two_array; }

// Axes that are filtered and wrapped: a layer is not one.
unsigned axis_count(unsigned dimension) {
  return coordinate_count(dimension) - (is_array(dimension) ? 1 : 0);
}

// RDNA3 ISA, 10.3: offset, bias, depth reference, derivatives, coordinates, LOD or its clamp.
// Without mipmaps nothing depends on bias, derivatives and LOD.
unsigned derivative_count(std::string_view name, unsigned dimension) {
  if (name.find("_d_") == std::string_view::npos && !name.ends_with("_d")) return 0;
  const unsigned axes = axis_count(dimension);
  return name.ends_with("_g16") ? 2 * ((axes + 1) / 2) : 2 * axes;
}

ImageKind kind_of(std::string_view name) {
  if (name == "image_load") return ImageKind::load;
  if (name == "image_load_mip") return ImageKind::load_mip;
  if (name == "image_store") return ImageKind::store;
  if (name == "image_store_mip") return ImageKind::store_mip;
  if (name == "image_get_resinfo") return ImageKind::size;
  // Comparison with a depth reference is for shadow maps.
  if (name.find("_c_") != std::string_view::npos || name.ends_with("_c"))
    return ImageKind::unsupported;
  if (name.starts_with("image_sample")) return ImageKind::sample;
  if (name.starts_with("image_gather4")) return ImageKind::gather;
  return ImageKind::unsupported;
}

unsigned body_count(const ImageControl& control) {
  if (control.kind == ImageKind::size) return 1;
  const bool level = control.kind == ImageKind::load_mip || control.kind == ImageKind::store_mip;
  return coordinate_count(control.dimension) + (level ? 1 : 0);
}

constexpr std::uint32_t largest_texel = 16;

// An access violation where kernels may not use the memory at `place`.
void require_texel(const std::byte* place) {
  const auto address = reinterpret_cast<std::uint64_t>(place);
  if (!in_aperture(address)) check_addresses(1, &address, largest_texel);
}

class Access {
 public:
  Access(Wave& wave, const Instruction& instruction)
      : wave_(wave),
        instruction_(instruction),
        control_(std::bit_cast<ImageControl>(instruction.immediate)),
        resource_(&wave.scalar[instruction.source[2].index]),
        image_(image_of(resource_, control_.dimension, wave.program->set)) {}

  bool run() {
    if (!image_.supported) return false;
    if (samples()) sampler_ = sampler_of(&wave_.scalar[instruction_.source[3].index]);
    if (samples() && control_.has(ImageControl::unnormalized)) sampler_.unnormalized = true;
    const std::uint32_t exec = wave_.scalar[scalar::exec + instruction_.half];
    for (std::uint32_t rest = exec; rest != 0; rest &= rest - 1) {
      lane_ = static_cast<unsigned>(std::countr_zero(rest));
      one_lane();
    }
    return true;
  }

 private:
  bool samples() const {
    return control_.kind == ImageKind::sample || control_.kind == ImageKind::gather;
  }

  void one_lane() {
    switch (control_.kind) {
      case ImageKind::load:
      case ImageKind::load_mip: load(); break;
      case ImageKind::store:
      case ImageKind::store_mip: store(); break;
      case ImageKind::sample: write(sample()); break;
      case ImageKind::gather: gather(); break;
      default: describe(); break;
    }
  }

  // ---- registers

  std::uint32_t& vector(unsigned number) {
    return vector_row(wave_, number, instruction_.half).lane[lane_];
  }

  std::uint32_t address(unsigned number) {
    const unsigned first = instruction_.source[0].index;
    if (!control_.has(ImageControl::separate) || number == 0) return vector(first + number);
    if (number < 5) return vector(control_.registers[number - 1]);
    return vector(control_.registers[3] + number - 4);
  }

  unsigned first_coordinate() const {
    return (control_.flags >> ImageControl::skipped_shift) +
           (control_.has(ImageControl::offset) ? 1U : 0U);
  }

  std::int64_t integer_coordinate(unsigned number) {
    if (!control_.has(ImageControl::short_addresses)) return address(number);
    return address(number / 2) >> number % 2 * 16 & 0xFFFF;
  }

  double float_coordinate(unsigned number) {
    const unsigned first = first_coordinate();
    if (!control_.has(ImageControl::short_addresses)) {
      return std::bit_cast<float>(address(first + number));
    }
    const std::uint32_t pair = address(first + number / 2) >> number % 2 * 16;
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(pair)));
  }

  void write(const Components& value) {
    unsigned at = 0;
    for (unsigned k = 0; k < 4; ++k) {
      if ((control_.mask >> k & 1) == 0) continue;
      put(at++, value[k]);
    }
  }

  void put(unsigned at, std::uint32_t value) {
    const unsigned first = instruction_.destination.index;
    if (!control_.has(ImageControl::short_data)) {
      vector(first + at) = value;
      return;
    }
    std::uint32_t& target = vector(first + at / 2);
    const std::uint32_t half =
        image_.format.is_integer()
            ? value & 0xFFFF
            : std::bit_cast<std::uint16_t>(static_cast<_Float16>(std::bit_cast<float>(value)));
    target = at % 2 == 0 ? (target & 0xFFFF'0000) | half : (target & 0xFFFF) | half << 16;
  }

  Components given() {
    Components value{};
    unsigned at = 0;
    for (unsigned k = 0; k < 4; ++k) {
      if ((control_.mask >> k & 1) != 0) value[k] = given_component(at++);
    }
    return value;
  }

  std::uint32_t given_component(unsigned at) {
    const unsigned first = instruction_.source[1].index;
    if (!control_.has(ImageControl::short_data)) return vector(first + at);
    const auto half = static_cast<std::uint16_t>(vector(first + at / 2) >> at % 2 * 16);
    if (image_.format.is_integer()) return half;
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<_Float16>(half)));
  }

  // ---- texels

  std::byte* texel(const std::int64_t (&at)[3]) const {
    const std::int64_t number = (at[2] * image_.size[1] + at[1]) * image_.pitch + at[0];
    std::byte* place = image_.base + number * static_cast<std::int64_t>(image_.format.bytes());
    require_texel(place);
    return place;
  }

  Components fetched(const std::int64_t (&at)[3]) const {
    return swizzled(load_texel(image_.format, texel(at)), image_.selects,
                    image_.format.is_integer());
  }

  // The place that integer coordinates name; false outside the image, or on a level that is not.
  bool place(std::int64_t (&at)[3]) {
    at[0] = integer_coordinate(0);
    at[1] = axis_count(control_.dimension) > 1 ? integer_coordinate(1) : 0;
    at[2] = control_.dimension == three ? integer_coordinate(2) : 0;
    bool inside = at[0] < image_.size[0] && at[1] < image_.size[1] && at[2] < image_.size[2];
    if (is_array(control_.dimension)) {
      const std::int64_t layer = integer_coordinate(coordinate_count(control_.dimension) - 1);
      inside &= layer < image_.layers;
      set_layer(at, layer);
    }
    const bool level =
        control_.kind == ImageKind::load_mip || control_.kind == ImageKind::store_mip;
    return inside && (!level || integer_coordinate(coordinate_count(control_.dimension)) == 0);
  }

  void set_layer(std::int64_t (&at)[3], std::int64_t layer) const {
    at[2] = layer + image_.first_layer;
  }

  void load() {
    std::int64_t at[3];
    write(place(at) ? fetched(at) : Components{});
  }

  void store() {
    std::int64_t at[3];
    if (place(at)) store_texel(image_.format, given(), texel(at));
  }

  // ---- sampling

  // Places along one axis in units of 1/256 texel, from the middle of texel 0 where `centred`.
  std::int64_t fixed(unsigned axis, bool centred) {
    double place = float_coordinate(axis);
    if (!sampler_.unnormalized) place *= static_cast<double>(image_.size[axis]);
    if (std::isnan(place)) place = 0;
    constexpr double limit = 1LL << 40;
    place = std::fmin(std::fmax(place * 256, -limit), limit);
    const double whole = sampler_.truncates ? std::floor(place) : std::nearbyint(place);
    return static_cast<std::int64_t>(whole) - (centred ? 128 : 0);
  }

  std::int64_t texel_offset(unsigned axis) {
    if (!control_.has(ImageControl::offset)) return 0;
    return static_cast<std::int32_t>(address(0) >> 8 * axis << 26) >> 26;
  }

  std::int64_t layer() {
    const double value = float_coordinate(coordinate_count(control_.dimension) - 1);
    const double whole = std::nearbyint(std::isnan(value) ? 0 : value);
    return static_cast<std::int64_t>(
        std::fmin(std::fmax(whole, 0), static_cast<double>(image_.layers - 1)));
  }

  Components border() const {
    const std::uint32_t bright =
        image_.format.is_integer() ? 1 : std::bit_cast<std::uint32_t>(1.0F);
    if (sampler_.border == 1) return {0, 0, 0, bright};
    if (sampler_.border == 2) return {bright, bright, bright, bright};
    return {};
  }

  // The texel at `at` (before wrapping).
  Components tap(const std::int64_t (&at)[3]) const {
    std::int64_t inside[3] = {};
    const unsigned axes = axis_count(control_.dimension);
    for (unsigned axis = 0; axis < axes; ++axis) {
      inside[axis] = wrapped(at[axis], image_.size[axis], sampler_.address_mode[axis]);
      if (inside[axis] == on_border) return border();
    }
    if (is_array(control_.dimension)) inside[2] = at[2];
    return fetched(inside);
  }

  Components sample() {
    const unsigned axes = axis_count(control_.dimension);
    std::int64_t low[3] = {};
    std::int64_t fraction[3] = {};
    for (unsigned axis = 0; axis < axes; ++axis) {
      const bool linear =
          (axis == 2 ? sampler_.linear_z : sampler_.linear) && !image_.format.is_integer();
      const std::int64_t place = fixed(axis, linear);
      low[axis] = (place >> 8) + texel_offset(axis);
      fraction[axis] = linear ? place & 255 : 0;
    }
    if (is_array(control_.dimension)) set_layer(low, layer());
    if ((fraction[0] | fraction[1] | fraction[2]) == 0) return tap(low);
    return blended(low, fraction, axes);
  }

  // Weights have 8 bits of fraction (RDNA3 ISA, 10.6, filtering).
  Components blended(const std::int64_t (&low)[3], const std::int64_t (&fraction)[3],
                     unsigned axes) const {
    double sum[4] = {};
    for (unsigned corner = 0; corner < 1U << axes; ++corner) {
      std::int64_t at[3] = {low[0], low[1], low[2]};
      double weight = 1;
      for (unsigned axis = 0; axis < axes; ++axis) {
        const std::int64_t upper = corner >> axis & 1;
        at[axis] += upper;
        weight *= static_cast<double>(upper != 0 ? fraction[axis] : 256 - fraction[axis]) / 256;
      }
      if (weight == 0) continue;
      const Components value = tap(at);
      for (unsigned k = 0; k < 4; ++k)
        sum[k] += weight * static_cast<double>(std::bit_cast<float>(value[k]));
    }
    Components result;
    for (unsigned k = 0; k < 4; ++k)
      result[k] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[k]));
    return result;
  }

  // One component of the four texels that bilinear filtering would blend, counter-clockwise from
  // the lower left (RDNA3 ISA, 10.4, gather4).
  void gather() {
    constexpr std::int64_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const auto component = static_cast<unsigned>(std::countr_zero(control_.mask | 8U));
    std::int64_t low[3] = {};
    for (unsigned axis = 0; axis < 2; ++axis) {
      low[axis] = (fixed(axis, true) >> 8) + texel_offset(axis);
    }
    if (is_array(control_.dimension)) set_layer(low, layer());
    Components result;
    for (unsigned k = 0; k < 4; ++k) {
      const std::int64_t at[3] = {low[0] + corners[k][0], low[1] + corners[k][1], low[2]};
      result[k] = tap(at)[component];
    }
    for (unsigned k = 0; k < 4; ++k) put(k, result[k]);
  }

  // Sizes of a level that is not there are zero.
  void describe() {
    Components sizes{};
    if (integer_coordinate(0) == 0) {
      const bool array = is_array(control_.dimension);
      const unsigned axes = axis_count(control_.dimension);
      sizes[0] = static_cast<std::uint32_t>(image_.size[0]);
      if (axes > 1) sizes[1] = static_cast<std::uint32_t>(image_.size[1]);
      if (axes > 2) sizes[2] = static_cast<std::uint32_t>(image_.size[2]);
      if (array) sizes[axes] = static_cast<std::uint32_t>(image_.layers);
    }
    sizes[3] = 1;
    unsigned at = 0;
    for (unsigned k = 0; k < 4; ++k) {
      if ((control_.mask >> k & 1) != 0) vector(instruction_.destination.index + at++) = sizes[k];
    }
  }

  Wave& wave_;
  const Instruction& instruction_;
  const ImageControl control_;
  const std::uint32_t* resource_;
  const Image image_;
  Sampler sampler_{};
  unsigned lane_ = 0;
};

}  // namespace

ImageControl image_control(Opcode opcode, const ImageFields& fields) {
  const std::string_view name = mnemonic(opcode);
  ImageControl control;
  control.kind = kind_of(name);
  control.mask = fields.mask;
  control.dimension = fields.dimension;
  if (control.dimension == cube || control.dimension > two_array || fields.other_resource) {
    control.kind = ImageKind::unsupported;
  }
  const bool bias = name.find("_b_") != std::string_view::npos || name.ends_with("_b");
  const unsigned skipped = derivative_count(name, control.dimension) + (bias ? 1 : 0);
  const bool offset = name.ends_with("_o") || name.find("_o_") != std::string_view::npos;
  unsigned flags = skipped << ImageControl::skipped_shift;
  if (fields.unnormalized) flags |= ImageControl::unnormalized;
  if (fields.short_addresses) flags |= ImageControl::short_addresses;
  if (fields.short_data) flags |= ImageControl::short_data;
  if (fields.separate) flags |= ImageControl::separate;
  if (offset) flags |= ImageControl::offset;
  control.flags = static_cast<std::uint8_t>(flags);
  std::ranges::copy(fields.registers, control.registers);
  return control;
}

unsigned data_registers(const ImageControl& control) {
  const auto components =
      control.kind == ImageKind::gather ? 4U : static_cast<unsigned>(std::popcount(control.mask));
  return control.has(ImageControl::short_data) ? (components + 1) / 2 : components;
}

unsigned address_registers(const ImageControl& control) {
  const unsigned body = body_count(control);
  const unsigned skipped = control.flags >> ImageControl::skipped_shift;
  return skipped + (control.has(ImageControl::offset) ? 1 : 0) +
         (control.has(ImageControl::short_addresses) ? (body + 1) / 2 : body);
}

bool execute_image(Wave& wave, const Instruction& instruction) {
  return Access(wave, instruction).run();
}

bool access_formatted(Wave& wave, const Instruction& instruction, const FormattedAccess& access) {
  const TexelFormat format = texel_format(access.code);
  if (format.count == 0) return false;
  const bool integer = format.is_integer();
  const unsigned first = access.store ? instruction.source[1].index : instruction.destination.index;
  const auto shortened = [&](std::uint32_t value) -> std::uint32_t {
    if (integer) return value & 0xFFFF;
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(std::bit_cast<float>(value)));
  };
  const auto lengthened = [&](std::uint32_t half) -> std::uint32_t {
    if (integer) return half;
    const auto value = std::bit_cast<_Float16>(static_cast<std::uint16_t>(half));
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  };
  for (std::uint32_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const bool inside = (access.inside >> lane & 1) != 0;
    auto* texel = reinterpret_cast<std::byte*>(access.addresses[lane]);
    if (inside) require_texel(texel);
    Components value{};
    if (!access.store && inside)
      value = swizzled(load_texel(format, texel), access.selects, integer);
    for (unsigned k = 0; k < access.count; ++k) {
      const unsigned number = access.short_data ? first + k / 2 : first + k;
      const unsigned shift = access.high || k % 2 != 0 ? 16 : 0;
      std::uint32_t& held = vector_row(wave, number, instruction.half).lane[lane];
      if (access.store) {
        value[k] = access.short_data ? lengthened(held >> shift & 0xFFFF) : held;
      } else if (access.short_data) {
        held = (held & ~(0xFFFFU << shift)) | shortened(value[k]) << shift;
      } else {
        held = value[k];
      }
    }
    if (access.store && inside) store_texel(format, value, texel);
  }
  return true;
}

}  // namespace cass::amdgpu
