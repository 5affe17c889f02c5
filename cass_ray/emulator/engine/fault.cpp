// Text of faults, and occupancy.
#include <algorithm>
#include <cstdio>

#include "code_object.hpp"
#include "engine.hpp"

namespace cass::rdna3 {

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::unsupported_instruction: return "unsupported instruction";
    case FaultKind::invalid_instruction: return "invalid instruction";
    case FaultKind::invalid_launch: return "invalid launch";
    case FaultKind::memory_access: return "invalid memory access";
    case FaultKind::stack_overflow: return "stack overflow";
    case FaultKind::trap: return "trap";
    case FaultKind::time_limit: return "time limit";
    case FaultKind::deadlock: return "deadlock";
    case FaultKind::out_of_bounds: return "out-of-bounds access";
    case FaultKind::use_after_free: return "use after free";
    case FaultKind::uninitialized_read: return "read of uninitialised memory";
    case FaultKind::data_race: return "data race";
    case FaultKind::barrier_divergence: return "barrier divergence";
    case FaultKind::misaligned_access: return "misaligned access";
    case FaultKind::unordered_writes: return "unordered writes";
  }
  return "fault";
}

std::string Fault::text() const {
  char line[160];
  std::string text(name_of(kind));
  text += ": " + message + "\n  kernel " + kernel;
  if (!instruction.empty()) {
    std::snprintf(line, sizeof line, "\n  at 0x%llx: ", static_cast<unsigned long long>(pc));
    text += line + instruction;
  }
  if (!source.empty()) text += "\n  source " + source;
  const bool ran = kind != FaultKind::invalid_launch && kind != FaultKind::unsupported_instruction;
  if (ran) {
    std::snprintf(line, sizeof line, "\n  workgroup (%u, %u, %u)", workgroup[0], workgroup[1],
                  workgroup[2]);
    text += line;
    if (lane) text += ", work-item " + std::to_string(*lane);
  }
  if (address) {
    std::snprintf(line, sizeof line, "\n  address 0x%llx",
                  static_cast<unsigned long long>(*address));
    text += line;
  }
  return text;
}

std::uint32_t max_workgroups_per_compute_unit(const Kernel& kernel, std::uint32_t block_threads,
                                              std::uint32_t dynamic_lds_bytes) {
  const bool gfx9 = is_gfx9(kernel.code_object->content().set);
  const std::uint32_t simds = gfx9 ? 4 : 2, waves_per_simd = gfx9 ? 8 : 16;
  const std::uint32_t registers = gfx9 ? 512 : 1536, granule = gfx9 ? 8 : 24;
  constexpr std::uint32_t lds = 64 * 1024, max_workgroups = 16;
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

}  // namespace cass::rdna3
