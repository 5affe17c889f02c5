// Floating point of 8 bits: FP8 (4 bits of exponent) and BF8 (5). gfx942 has AMD's own, without
// infinities and without -0; 0x80 is the only NaN (MI300 ISA, 7.2, "FNUZ"). gfx12 has those of the
// Open Compute Project (OCP 8-bit Floating Point Specification, revision 1.0): of FP8 only the
// largest code is NaN, BF8 is laid out as IEEE's formats are.
#pragma once

#include <cstdint>

#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

struct Fp8 {
  static constexpr int exponent_bits = 4, mantissa_bits = 3, bias = 8;
  static constexpr bool ocp = false;
};
struct Bf8 {
  static constexpr int exponent_bits = 5, mantissa_bits = 2, bias = 16;
  static constexpr bool ocp = false;
};
struct OcpFp8 {
  static constexpr int exponent_bits = 4, mantissa_bits = 3, bias = 7;
  static constexpr bool ocp = true;
  static constexpr std::uint32_t overflow = 0x7F, first_special = 0x7F;  // NaN
};
struct OcpBf8 {
  static constexpr int exponent_bits = 5, mantissa_bits = 2, bias = 15;
  static constexpr bool ocp = true;
  static constexpr std::uint32_t overflow = 0x7C, first_special = 0x7C;  // infinity
};
constexpr std::uint32_t byte_nan = 0x80;
constexpr std::uint32_t ocp_nan = 0x7F;

template <class Format>
ALWAYS_INLINE float float_of_byte(std::uint32_t byte) {
  if constexpr (Format::ocp) {
    const std::uint32_t magnitude = byte & 0x7F;
    if (magnitude >= Format::first_special) {
      const bool infinite = magnitude == Format::overflow && Format::overflow != ocp_nan;
      const float special = infinite ? __builtin_inff() : __builtin_nanf("");
      return (byte & 0x80) != 0 ? -special : special;
    }
  } else {
    if (byte == byte_nan) return __builtin_nanf("");
  }
  constexpr std::uint32_t exponent_mask = (1U << Format::exponent_bits) - 1;
  const std::uint32_t exponent = byte >> Format::mantissa_bits & exponent_mask;
  const std::uint32_t mantissa = byte & ((1U << Format::mantissa_bits) - 1);
  const std::uint32_t significand =
      exponent == 0 ? mantissa : mantissa | 1U << Format::mantissa_bits;
  const int power =
      static_cast<int>(exponent == 0 ? 1 : exponent) - Format::bias - Format::mantissa_bits;
  const auto scale = static_cast<std::uint32_t>(power + 127) << 23;
  const float magnitude = static_cast<float>(significand) * __builtin_bit_cast(float, scale);
  return (byte & 0x80) != 0 ? -magnitude : magnitude;
}

// To nearest even; what is too large, infinities and NaN become NaN; OCP's BF8 has infinities.
template <class Format>
ALWAYS_INLINE std::uint32_t byte_of_float(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7FFF'FFFF;
  if (magnitude >= 0x7F80'0000) {
    if constexpr (Format::ocp) return sign | (magnitude > 0x7F80'0000 ? ocp_nan : Format::overflow);
    return byte_nan;
  }
  constexpr int least_exponent = 1 - Format::bias;
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < least_exponent) exponent = least_exponent;
  // Units of the last place of the result, exact in f64.
  const int power = exponent - Format::mantissa_bits;
  const auto scale = static_cast<std::uint64_t>(1023 - power) << 52;
  const double units =
      static_cast<double>(__builtin_bit_cast(float, magnitude)) * __builtin_bit_cast(double, scale);
  const auto floor = static_cast<std::uint32_t>(units);
  const double rest = units - floor;
  const std::uint32_t steps = floor + (rest > 0.5 || (rest == 0.5 && (floor & 1) != 0) ? 1 : 0);
  // A carry out of the significand goes into the exponent.
  const std::uint32_t code =
      (static_cast<std::uint32_t>(exponent - least_exponent) << Format::mantissa_bits) + steps;
  if constexpr (Format::ocp) {
    return sign | (code >= Format::first_special ? Format::overflow : code);
  }
  if (code > 0x7F) return byte_nan;
  return code == 0 ? 0 : sign | code;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
