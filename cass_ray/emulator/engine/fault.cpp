// Text of faults.
#include <cstdio>

#include "code_object.hpp"
#include "engine.hpp"

namespace cass::amdgpu {

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::unsupported_instruction: return "unsupported instruction";
    case FaultKind::invalid_instruction: return "invalid instruction";
    case FaultKind::invalid_launch: return "invalid launch";
    case FaultKind::memory_access: return "invalid memory access";
    case FaultKind::stack_overflow: return "stack overflow";
    case FaultKind::trap: return "trap";
    case FaultKind::assertion: return "failed assertion";
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

}  // namespace cass::amdgpu
