// How many workgroups a compute unit holds. Also part of the HIP runtime.
#include <algorithm>

#include "engine.hpp"

namespace cass::amdgpu {

std::uint32_t max_workgroups_per_compute_unit(const Kernel& kernel, std::uint32_t block_threads,
                                              std::uint32_t dynamic_lds_bytes) {
  const bool gfx9 = kernel.gfx9;
  const std::uint32_t simds = gfx9 ? 4 : 2, waves_per_simd = gfx9 ? 8 : 16;
  const std::uint32_t registers = gfx9 ? 512 : 1536, granule = gfx9 ? 8 : 24;
  constexpr std::uint32_t max_workgroups = 16;
  const std::uint32_t lds = kernel.lds_capacity;
  if (block_threads == 0 || block_threads > kernel.max_flat_workgroup_size) return 0;
  const std::uint32_t wave = kernel.wave_size;
  const std::uint32_t waves = (block_threads + wave - 1) / wave;
  const std::uint32_t used = std::max<std::uint32_t>(kernel.vgpr_count, 1) * (gfx9 ? 1 : wave / 32);
  const std::uint32_t rounded = (used + granule - 1) / granule * granule;
  const std::uint32_t resident = simds * std::min(waves_per_simd, registers / rounded);
  std::uint32_t groups = waves == 1 ? resident : std::min(max_workgroups, resident / waves);
  const std::uint32_t bytes = kernel.lds_size + dynamic_lds_bytes;
  if (bytes > lds) return 0;
  if (bytes != 0) groups = std::min(groups, lds / bytes);
  return groups;
}

}  // namespace cass::amdgpu
