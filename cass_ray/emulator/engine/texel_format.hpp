// Formats of texels and of typed buffers (RDNA3 ISA, 9.7: the combined format of a resource).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cass::amdgpu {

enum class Numeric : std::uint8_t {
  unorm,    // 0 to 1
  snorm,    // -1 to 1
  uscaled,  // an integer as float
  sscaled,
  uint,
  sint,
  floating,
};

struct TexelFormat {
  std::uint8_t bits[4] = {};  // of each component, lowest bits of the texel first
  std::uint8_t count = 0;     // components; 0: not a format that the engine knows
  Numeric numeric = Numeric::unorm;

  std::size_t bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8U; }
  bool is_integer() const { return numeric == Numeric::uint || numeric == Numeric::sint; }
};

// A texel's components as a register holds them: bits of an f32 or of an integer.
using Components = std::array<std::uint32_t, 4>;

TexelFormat texel_format(unsigned code);

// `texel` has format.bytes() bytes, at any alignment. Components beyond the format's are zero.
Components load_texel(const TexelFormat& format, const std::byte* texel);
// Values beyond what a component holds saturate.
void store_texel(const TexelFormat& format, const Components& value, std::byte* texel);

// Components as DST_SEL of a resource (four fields of 3 bits) picks them.
Components swizzled(const Components& value, unsigned selects, bool integer);

}  // namespace cass::amdgpu
