// What decoding inserts before instructions for counters and for the checking mode.
#include "operation.hpp"

#include "../counters.hpp"
#include "../memory_check.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

OPERATION(engine_count) { count_instruction(w, &i); }

CONTROL(engine_check) {
  if (!check_access(w, i)) {
    stop(w, i, WaveFault::check);
    return;
  }
  CONTINUE_AT(w, i + 1);
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
