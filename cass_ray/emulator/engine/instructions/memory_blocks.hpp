// Two to four dwords a lane, as one access a lane: memory has them lane by lane, registers dword by
// dword.
#pragma once

#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using Quad = std::uint32_t __attribute__((ext_vector_type(4)));
using Octet = std::uint32_t __attribute__((ext_vector_type(8)));
using HalfRow = std::uint32_t __attribute__((ext_vector_type(16)));  // 16 lanes

struct AddressList {
  alignas(64) std::uint64_t lane[lanes];
};
ALWAYS_INLINE AddressList listed(U64 address) { return bits_as<AddressList>(address); }

// Four blocks of 4 x 4 dwords, each in a quarter of the vectors, are transposed: from the dwords of
// lanes j, j + 4, j + 8 and j + 12 (`block[j]`) to dword k of 16 lanes (`block[k]`), and back.
struct Blocks {
  HalfRow block[4];
};
ALWAYS_INLINE Blocks transposed(const Blocks& from) {
#define LOWER(a, b) \
  __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define UPPER(a, b) \
  __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOWER_PAIRS(a, b) \
  __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define UPPER_PAIRS(a, b) \
  __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
  const HalfRow low01 = LOWER(from.block[0], from.block[1]);
  const HalfRow high01 = UPPER(from.block[0], from.block[1]);
  const HalfRow low23 = LOWER(from.block[2], from.block[3]);
  const HalfRow high23 = UPPER(from.block[2], from.block[3]);
  return {{LOWER_PAIRS(low01, low23), UPPER_PAIRS(low01, low23), LOWER_PAIRS(high01, high23),
           UPPER_PAIRS(high01, high23)}};
#undef LOWER
#undef UPPER
#undef LOWER_PAIRS
#undef UPPER_PAIRS
}

struct TwoHalves {
  HalfRow half[2];
};

ALWAYS_INLINE Quad quad_at(std::uint64_t address) {
  Quad value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

// 16 bytes of each lane, from `at`, into four rows. Every address is read.
ALWAYS_INLINE void load_blocks(U32 rows[4], const AddressList& at) {
  TwoHalves made[4];
  for (int half = 0; half < 2; ++half) {
    Blocks blocks;
    for (int j = 0; j < 4; ++j) {
      const std::uint64_t* lane = &at.lane[16 * half + j];
      const Octet low =
          __builtin_shufflevector(quad_at(lane[0]), quad_at(lane[4]), 0, 1, 2, 3, 4, 5, 6, 7);
      const Octet high =
          __builtin_shufflevector(quad_at(lane[8]), quad_at(lane[12]), 0, 1, 2, 3, 4, 5, 6, 7);
      blocks.block[j] =
          __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    blocks = transposed(blocks);
    for (int k = 0; k < 4; ++k) made[k].half[half] = blocks.block[k];
  }
  for (int k = 0; k < 4; ++k) rows[k] = bits_as<U32>(made[k]);
}

// The dwords of each lane, in order.
struct LaneQuads {
  alignas(64) std::uint32_t lane[lanes][4];
};
ALWAYS_INLINE LaneQuads lane_quads(const U32 rows[4]) {
  LaneQuads quads;
  TwoHalves from[4];
  for (int k = 0; k < 4; ++k) from[k] = bits_as<TwoHalves>(rows[k]);
  for (int half = 0; half < 2; ++half) {
    Blocks blocks;
    for (int k = 0; k < 4; ++k) blocks.block[k] = from[k].half[half];
    blocks = transposed(blocks);
    for (int j = 0; j < 4; ++j) {
      const HalfRow& lanes_of_block = blocks.block[j];
      const Quad parts[4] = {
          __builtin_shufflevector(lanes_of_block, lanes_of_block, 0, 1, 2, 3),
          __builtin_shufflevector(lanes_of_block, lanes_of_block, 4, 5, 6, 7),
          __builtin_shufflevector(lanes_of_block, lanes_of_block, 8, 9, 10, 11),
          __builtin_shufflevector(lanes_of_block, lanes_of_block, 12, 13, 14, 15)};
      for (int p = 0; p < 4; ++p) {
        std::memcpy(quads.lane[16 * half + 4 * p + j], &parts[p], sizeof parts[p]);
      }
    }
  }
  return quads;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
