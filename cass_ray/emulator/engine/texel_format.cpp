#include "texel_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cass::amdgpu {
namespace {

// Runs of codes that differ in the numeric type only, in the order of the ISA's table. Its names
// list widths from the highest bits on: 2_10_10_10 has its first component in the lowest ten bits.
struct Run {
  unsigned first;
  std::uint8_t bits[4];
  std::uint8_t count;
  const char* numerics;  // a letter for each code: n unorm, m snorm, c uscaled, d sscaled, u, s, f
};
constexpr Run runs[] = {
    {1, {8, 0, 0, 0}, 1, "nmcdus"},     {7, {16, 0, 0, 0}, 1, "nmcdusf"},
    {14, {8, 8, 0, 0}, 2, "nmcdus"},    {20, {32, 0, 0, 0}, 1, "usf"},
    {23, {16, 16, 0, 0}, 2, "nmcdusf"}, {32, {2, 10, 10, 10}, 4, "nmus"},
    {36, {10, 10, 10, 2}, 4, "nmcdus"}, {42, {8, 8, 8, 8}, 4, "nmcdus"},
    {48, {32, 32, 0, 0}, 2, "usf"},     {51, {16, 16, 16, 16}, 4, "nmcdusf"},
    {58, {32, 32, 32, 0}, 3, "usf"},    {61, {32, 32, 32, 32}, 4, "usf"},
};

Numeric numeric_of(char letter) {
  switch (letter) {
    case 'n': return Numeric::unorm;
    case 'm': return Numeric::snorm;
    case 'c': return Numeric::uscaled;
    case 'd': return Numeric::sscaled;
    case 'u': return Numeric::uint;
    case 's': return Numeric::sint;
    default: return Numeric::floating;
  }
}

std::uint32_t largest(unsigned bits) { return bits == 32 ? ~0U : (1U << bits) - 1; }

std::int32_t sign_extended(std::uint32_t value, unsigned bits) {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

std::uint32_t to_register(std::uint32_t raw, unsigned bits, Numeric numeric) {
  const auto whole = static_cast<float>(raw);
  const auto with_sign = static_cast<float>(sign_extended(raw, bits));
  switch (numeric) {
    case Numeric::unorm:
      return std::bit_cast<std::uint32_t>(whole / static_cast<float>(largest(bits)));
    case Numeric::snorm:
      return std::bit_cast<std::uint32_t>(
          std::max(-1.0F, with_sign / static_cast<float>(largest(bits - 1))));
    case Numeric::uscaled: return std::bit_cast<std::uint32_t>(whole);
    case Numeric::sscaled: return std::bit_cast<std::uint32_t>(with_sign);
    case Numeric::uint: return raw;
    case Numeric::sint: return static_cast<std::uint32_t>(sign_extended(raw, bits));
    case Numeric::floating: break;
  }
  if (bits == 32) return raw;
  const auto half = std::bit_cast<_Float16>(static_cast<std::uint16_t>(raw));
  return std::bit_cast<std::uint32_t>(static_cast<float>(half));
}

// Rounds to nearest, ties to even; NaN becomes 0.
std::uint32_t rounded(float value, double low, double high) {
  if (std::isnan(value)) return 0;
  const double clamped = std::clamp(static_cast<double>(value), low, high);
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::nearbyint(clamped)));
}

std::uint32_t from_register(std::uint32_t value, unsigned bits, Numeric numeric) {
  const auto number = std::bit_cast<float>(value);
  const auto high = static_cast<double>(largest(bits));
  const auto half = static_cast<double>(largest(bits - 1));
  switch (numeric) {
    case Numeric::unorm: return rounded(std::clamp(number, 0.0F, 1.0F) * largest(bits), 0, high);
    case Numeric::snorm:
      return rounded(std::clamp(number, -1.0F, 1.0F) * largest(bits - 1), -half, half);
    case Numeric::uscaled: return rounded(number, 0, high);
    case Numeric::sscaled: return rounded(number, -half - 1, half);
    case Numeric::uint: return std::min(value, largest(bits));
    case Numeric::sint: {
      const auto limit = static_cast<std::int64_t>(half);
      const auto wide = std::int64_t{static_cast<std::int32_t>(value)};
      return static_cast<std::uint32_t>(std::clamp(wide, -limit - 1, limit));
    }
    case Numeric::floating: break;
  }
  if (bits == 32) return value;
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(number));
}

}  // namespace

TexelFormat texel_format(unsigned code) {
  TexelFormat format;
  for (const Run& run : runs) {
    if (code < run.first || code >= run.first + std::strlen(run.numerics)) continue;
    std::copy(std::begin(run.bits), std::end(run.bits), format.bits);
    format.count = run.count;
    format.numeric = numeric_of(run.numerics[code - run.first]);
  }
  return format;
}

Components load_texel(const TexelFormat& format, const std::byte* texel) {
  Components result{};
  unsigned at = 0;
  std::uint32_t words[4] = {};
  std::memcpy(words, texel, format.bytes());
  for (unsigned k = 0; k < format.count; ++k) {
    const unsigned bits = format.bits[k];
    const std::uint32_t raw = words[at / 32] >> at % 32 & largest(bits);
    result[k] = to_register(raw, bits, format.numeric);
    at += bits;
  }
  return result;
}

void store_texel(const TexelFormat& format, const Components& value, std::byte* texel) {
  std::uint32_t words[4] = {};
  unsigned at = 0;
  for (unsigned k = 0; k < format.count; ++k) {
    const unsigned bits = format.bits[k];
    words[at / 32] |= (from_register(value[k], bits, format.numeric) & largest(bits)) << at % 32;
    at += bits;
  }
  std::memcpy(texel, words, format.bytes());
}

Components swizzled(const Components& value, unsigned selects, bool integer) {
  constexpr unsigned one = 1;
  constexpr unsigned first_component = 4;
  Components result{};
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned select = selects >> 3 * k & 7;
    if (select == one) result[k] = integer ? 1 : std::bit_cast<std::uint32_t>(1.0F);
    if (select >= first_component) result[k] = value[select - first_component];
  }
  return result;
}

}  // namespace cass::amdgpu
