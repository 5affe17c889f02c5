// Numbers and matrices as the texts of tcgen05 have them (PTX ISA, "Canonical layouts"), on the host.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

// Formats of numbers: bits, bits of exponent and fraction; those of integers have no exponent.
struct Format {
  const char *name;
  int code, bits, exponent, fraction, bytes;  // `bytes`: of a number in shared memory; 0: packed by 16
};
const Format of_f16{"f16", 0, 16, 5, 10, 2}, of_bf16{"bf16", 1, 16, 8, 7, 2}, of_tf32{"tf32", 2, 32, 8, 23, 4},
    of_e4m3{"e4m3", 0, 8, 4, 3, 1}, of_e5m2{"e5m2", 1, 8, 5, 2, 1}, of_e2m3{"e2m3", 3, 6, 2, 3, 0},
    of_e3m2{"e3m2", 4, 6, 3, 2, 0}, of_e2m1{"e2m1", 5, 4, 2, 1, 0}, of_u8{"u8", 0, 8, 0, 0, 1}, of_s8{"s8", 1, 8, 0, 0, 1};

double value(const Format &f, uint32_t code) {
  if (f.exponent == 0) return f.code ? (double)(int8_t)code : (double)code;
  const int bias = (1 << (f.exponent - 1)) - 1, field = code >> f.fraction & ((1 << f.exponent) - 1);
  const double fraction = (double)(code & ((1u << f.fraction) - 1)) / (1u << f.fraction);
  const double magnitude = field ? std::ldexp(1 + fraction, field - bias) : std::ldexp(fraction, 1 - bias);
  return code >> (f.bits - 1) & 1 ? -magnitude : magnitude;
}

// How a matrix lies: contiguous along the products' sum (K) or across it, swizzled in so many bytes.
struct Layout {
  const char *name;
  bool is_across;
  int swizzle;
  uint64_t type;
};
const Layout k_none{"K", false, 0, 0}, k_32{"K 32", false, 32, 6}, k_64{"K 64", false, 64, 4}, k_128{"K 128", false, 128, 2},
    mn_none{"MN", true, 0, 0}, mn_32{"MN 32", true, 32, 6}, mn_64{"MN 64", true, 64, 4}, mn_128{"MN 128", true, 128, 2},
    mn_wide{"MN 128/32", true, 128, 1};

// Where byte `along` of what is contiguous is, and line `across`. Without swizzles 8 lines of 16 bytes
// lie together; else 8 (of the wide swizzle 4) of as many bytes as are swizzled.
int place(const Layout &l, int along, int across, int size_along, int size_across) {
  if (l.swizzle == 0) {
    const int rows = size_across / 8;
    return ((along / 16) * rows + across / 8) * 128 + across % 8 * 16 + along % 16;
  }
  const int group = l.type == 1 ? 4 : 8, row = across % group;
  const int start = ((along / l.swizzle) * (size_across / group) + across / group) * group * l.swizzle;
  int inside = row * l.swizzle + along % l.swizzle;
  // The pattern goes by the address: bits from 7 on change those from 4 on, or bits 7 and 8 those from 5.
  const int address = start + inside;
  if (l.type == 1) inside ^= (address >> 7 & 3) << 5;
  else inside ^= (address >> 7 & (l.swizzle / 16 - 1)) << 4;
  return start + inside;
}

uint64_t descriptor(const Layout &l, int first, int size_along, int size_across) {
  const int group = l.type == 1 ? 4 : 8;
  int leading, stride;
  if (l.swizzle == 0) {
    const int along = size_across / 8 * 128, across = 128;  // between neighbours of 16 bytes, of 8 lines
    leading = l.is_across ? across : along;
    stride = l.is_across ? along : across;
  } else {
    stride = group * l.swizzle;
    leading = size_across / group * stride;
  }
  return (uint64_t)(first >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 46 | l.type << 61;
}

uint32_t hashed(uint32_t n) {
  n ^= n >> 16;
  n *= 0x7feb352du;
  n ^= n >> 15;
  n *= 0x846ca68bu;
  return n ^ n >> 16;
}

// A number with few bits, so that sums of products have no more than a sum in single precision.
uint32_t code_of(const Format &f, uint32_t seed) {
  const uint32_t h = hashed(seed);
  if (f.exponent == 0) return h & 0xff;
  for (uint32_t tries = h;; tries = hashed(tries + 1)) {
    uint32_t code = f.bits == 32 ? 0 : tries & ((1u << f.bits) - 1);
    if (f.bits >= 16) {
      const float number = (float)((int)(tries % 17) - 8) / 4;
      std::memcpy(&code, &number, 4);
      if (&f == &of_bf16) code >>= 16;
      if (&f == &of_f16) {
        if (number == 0) return 0;
        const int exponent = (int)(code >> 23 & 0xff) - 127 + 15;
        code = code >> 16 & 0x8000 | exponent << 10 | code >> 13 & 0x3ff;
      }
      return code;
    }
    if (std::fabs(value(f, code)) <= 4 && std::fabs(value(f, code)) >= 0.5) return code;
  }
}

void put(std::vector<uint8_t> &to, int first, const Format &f, const Layout &l, int number_in_k, int line, int count,
         int lines, uint32_t code) {
  if (f.bytes == 0) {  // 16 numbers in 16 bytes, packed in the first of them
    for (int bit = 0; bit < f.bits; ++bit) {
      const int at = number_in_k % 16 * f.bits + bit;
      const int byte = first + place(l, number_in_k / 16 * 16 + at / 8, line, count, lines);
      to[byte] |= (code >> bit & 1) << at % 8;
    }
    return;
  }
  const int along = (l.is_across ? line : number_in_k) * f.bytes, across = l.is_across ? number_in_k : line;
  const int size_along = (l.is_across ? lines : count) * f.bytes, size_across = l.is_across ? count : lines;
  for (int byte = 0; byte < f.bytes; ++byte) {
    to[first + place(l, along + byte, across, size_along, size_across)] = code >> 8 * byte;
  }
}
