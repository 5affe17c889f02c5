// 64-bit digests that are the same in each run; no protection against somebody who wants two alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cass::device {

// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

inline std::uint64_t hash_of(std::span<const std::byte> data) {
  std::uint64_t state = mixed(data.size());
  std::size_t at = 0;
  for (; at + 8 <= data.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + at, 8);
    state = mixed(state ^ word);
  }
  std::uint64_t last = 0;
  std::memcpy(&last, data.data() + at, data.size() - at);
  return mixed(state ^ last);
}

}  // namespace cass::device
