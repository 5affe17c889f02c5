// What a launch itself has in memory that its kernel addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "engine.hpp"

namespace cass::amdgpu {

class LaunchBlock {
 public:
  // Room for launches is used again; null where there is no memory.
  static LaunchBlock* take();
  void give_back();

  static constexpr std::size_t bytes = 64 << 10;
  static constexpr std::size_t max_kernarg = bytes - 256;

  std::array<std::byte, 64> dispatch_packet;  // hsa_kernel_dispatch_packet_t
  GridSynchronization grid_synchronization;
  alignas(256) std::array<std::byte, max_kernarg> kernarg;
};
static_assert(sizeof(LaunchBlock) == LaunchBlock::bytes);

}  // namespace cass::amdgpu
