// The hidden kernel arguments (LLVM, "User Guide for AMDGPU Backend", code object metadata V5).
#include <algorithm>
#include <bit>
#include <cstring>

#include "hidden_arguments.hpp"
#include "hostcall.hpp"
#include "launch_block.hpp"
#include "wave.hpp"

namespace cass::amdgpu {
namespace {

std::uint64_t hidden_value(const Launch& launch, ArgumentKind kind) {
  const auto at = [kind](ArgumentKind first) {
    return static_cast<unsigned>(kind) - static_cast<unsigned>(first);
  };
  switch (kind) {
    case ArgumentKind::hidden_block_count_x:
    case ArgumentKind::hidden_block_count_y:
    case ArgumentKind::hidden_block_count_z: {
      // Complete blocks: one that is cut off by the remainder does not count.
      const unsigned axis = at(ArgumentKind::hidden_block_count_x);
      return launch.grid_blocks[axis] - (launch.grid_remainder[axis] != 0 ? 1 : 0);
    }
    case ArgumentKind::hidden_group_size_x:
    case ArgumentKind::hidden_group_size_y:
    case ArgumentKind::hidden_group_size_z:
      return launch.block_threads[at(ArgumentKind::hidden_group_size_x)];
    case ArgumentKind::hidden_remainder_x:
    case ArgumentKind::hidden_remainder_y:
    case ArgumentKind::hidden_remainder_z:
      return launch.grid_remainder[at(ArgumentKind::hidden_remainder_x)];
    case ArgumentKind::hidden_grid_dims:
      return launch.grid_blocks[2] > 1 || launch.block_threads[2] > 1   ? 3
             : launch.grid_blocks[1] > 1 || launch.block_threads[1] > 1 ? 2
                                                                        : 1;
    case ArgumentKind::hidden_hostcall_buffer: return hostcall_buffer_address();
    case ArgumentKind::hidden_heap_v1: return device_heap_address();
    case ArgumentKind::hidden_multigrid_sync_arg:
      return launch.cooperative ? std::bit_cast<std::uintptr_t>(&launch.block->grid_synchronization)
                                : 0;
    case ArgumentKind::hidden_dynamic_lds_size: return launch.dynamic_lds_bytes;
    case ArgumentKind::hidden_private_base: return private_aperture_high;
    default: return 0;
  }
}

}  // namespace

void fill_hidden_arguments(Launch& launch) {
  GridSynchronization& grid = launch.block->grid_synchronization;
  grid = {};
  grid.workgroups = launch.grid_blocks[0] * launch.grid_blocks[1] * launch.grid_blocks[2];
  grid.all_work_items = std::uint64_t{grid.workgroups} * launch.block_threads[0] *
                        launch.block_threads[1] * launch.block_threads[2];
  for (const KernelArgument& argument : launch.kernel->arguments) {
    if (!is_hidden(argument.kind) || argument.offset > launch.kernarg.size() ||
        argument.size > launch.kernarg.size() - argument.offset) {
      continue;
    }
    const std::uint64_t value = hidden_value(launch, argument.kind);
    std::byte* target = launch.kernarg.data() + argument.offset;
    std::memset(target, 0, argument.size);
    std::memcpy(target, &value, std::min<std::size_t>(argument.size, sizeof value));
  }
}

}  // namespace cass::amdgpu
