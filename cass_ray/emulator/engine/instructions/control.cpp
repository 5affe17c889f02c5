// Program flow, waiting, MODE, and what decoding inserts (RDNA3 ISA, 16.5 SOPP and 3, wave state).
#include "operation.hpp"

#include "../machine_services.hpp"
#include "../program.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// ---- branches; a backward one uses up the wave's turn

#define BRANCH(name, condition)                                  \
  CONTROL(name) {                                                \
    const Instruction* target = (condition) ? i->target : i + 1; \
    if (__builtin_expect(target <= i && --w.budget < 0, 0)) {    \
      w.next = target;                                           \
      return;                                                    \
    }                                                            \
    CONTINUE_AT(w, target);                                      \
  }

ALWAYS_INLINE bool is_zero(const Wave& w, unsigned pair) {
  return (w.scalar[pair] | (w.wide ? w.scalar[pair + 1] : 0)) == 0;
}

BRANCH(s_branch, true)
BRANCH(s_cbranch_scc0, w.scalar[scalar::scc] == 0)
BRANCH(s_cbranch_scc1, w.scalar[scalar::scc] != 0)
BRANCH(s_cbranch_vccz, is_zero(w, scalar::vcc))
BRANCH(s_cbranch_vccnz, !is_zero(w, scalar::vcc))
BRANCH(s_cbranch_execz, is_zero(w, scalar::exec))
BRANCH(s_cbranch_execnz, !is_zero(w, scalar::exec))

// ---- calls and returns: addresses are host addresses of the loaded code

ALWAYS_INLINE const Instruction* jump_target(Wave& w, const Instruction* i, u64 address) {
  const Instruction* target = w.program->at(address);
  if (__builtin_expect(target == nullptr, 0)) {
    w.fault_address = address;
    stop(w, i, WaveFault::jump_outside_code);
  }
  return target;
}

#define JUMP(name, address, before)                           \
  CONTROL(name) {                                             \
    const Instruction* target = jump_target(w, i, address);   \
    if (target == nullptr) return;                            \
    before;                                                   \
    if (__builtin_expect(target <= i && --w.budget < 0, 0)) { \
      w.next = target;                                        \
      return;                                                 \
    }                                                         \
    CONTINUE_AT(w, target);                                   \
  }

OPERATION(s_getpc_b64) { write_scalar64(w, i.destination, static_cast<u64>(i.immediate)); }
JUMP(s_setpc_b64, scalar_u64(w, i->source[0]), )
JUMP(s_swappc_b64, scalar_u64(w, i->source[0]),
     write_scalar64(w, i->destination, static_cast<u64>(i->immediate)))
CONTROL(s_call_b64) {
  write_scalar64(w, i->destination, w.program->base + i->pc + 4);
  CONTINUE_AT(w, i->target);
}

// ---- the end of a turn

CONTROL(s_sleep) {
  w.next = i + 1;
  w.budget = budget_of_sleeping;
}
CONTROL(s_sleep_var) {
  w.next = i + 1;
  w.budget = budget_of_sleeping;
}

CONTROL(engine_yield) { w.next = i + 1; }

CONTROL(s_endpgm) { w.state = WaveState::finished; }
CONTROL(s_endpgm_saved) { w.state = WaveState::finished; }
CONTROL(s_barrier) {
  if (w.single) CONTINUE_AT(w, i + 1);
  ++w.signals;
  ++w.waits;
  w.next = i + 1;
  w.state = WaveState::at_barrier;
}
// gfx12 has the two halves of it (RDNA4 ISA, 4.3.1). Of its barriers only the workgroup's is known.
constexpr u32 workgroup_barrier = ~0U;
ALWAYS_INLINE bool is_workgroup_barrier(const Instruction& i) {
  return i.source[0].kind == OperandKind::constant && i.source[0].value == workgroup_barrier;
}
CONTROL(s_barrier_signal) {
  if (!is_workgroup_barrier(*i)) return stop(w, i, WaveFault::unsupported_instruction);
  ++w.signals;
  CONTINUE_AT(w, i + 1);
}
CONTROL(s_barrier_signal_isfirst) {
  if (!is_workgroup_barrier(*i)) return stop(w, i, WaveFault::unsupported_instruction);
  ++w.signals;
  w.scalar[scalar::scc] = service_signals_first(w);
  CONTINUE_AT(w, i + 1);
}
CONTROL(s_barrier_wait) {
  if (static_cast<u32>(i->immediate) != workgroup_barrier) {
    return stop(w, i, WaveFault::unsupported_instruction);
  }
  ++w.waits;
  if (w.single) CONTINUE_AT(w, i + 1);
  w.next = i + 1;
  w.state = WaveState::at_barrier;
}
CONTROL(ds_gws_barrier) {
  w.next = i + 1;
  w.state = WaveState::at_grid_barrier;
}
OPERATION(ds_gws_init) {}
// Trap 3 is for a debugger; without one it does nothing.
constexpr int trap_debug = 3;
CONTROL(s_trap) {
  if ((i->immediate & 0xFF) == trap_debug) CONTINUE_AT(w, i + 1);
  stop(w, i, WaveFault::trap);
}
CONTROL(s_sethalt) {
  if ((i->immediate & 1) != 0) {
    stop(w, i, WaveFault::trap);
    return;
  }
  CONTINUE_AT(w, i + 1);
}
CONTROL(engine_unsupported) { stop(w, i, WaveFault::unsupported_instruction); }
CONTROL(engine_invalid) { stop(w, i, WaveFault::invalid_instruction); }

// ---- messages

constexpr int message_interrupt = 1;
constexpr int message_get_realtime = 131;

OPERATION(s_sendmsg) {
  if ((i.immediate & 0xFF) == message_interrupt) service_interrupt();
}
OPERATION(s_sendmsg_rtn_b32) {
  write_scalar(w, i.destination,
               i.immediate == message_get_realtime ? static_cast<u32>(service_realtime()) : 0);
}
OPERATION(s_sendmsg_rtn_b64) {
  write_scalar64(w, i.destination, i.immediate == message_get_realtime ? service_realtime() : 0);
}

// ---- hardware registers: id in bits 5:0 of SIMM16, offset in 10:6, size - 1 in 15:11

constexpr unsigned register_mode = 1;
constexpr unsigned register_status = 2;
constexpr unsigned register_shader_cycles = 29;
constexpr unsigned register_shader_cycles_high = 30;

ALWAYS_INLINE u32 field_mask(std::int64_t simm) {
  const unsigned size = (static_cast<unsigned>(simm) >> 11 & 31) + 1;
  return size == 32 ? ~0U : (1U << size) - 1;
}

OPERATION(s_getreg_b32) {
  const unsigned id = static_cast<unsigned>(i.immediate) & 63;
  u32 value = 0;
  if (id == register_mode) value = w.mode & ~w.fixed_mode;
  if (id == register_status) value = w.scalar[scalar::scc] | is_zero(w, scalar::exec) << 9;
  if (id == register_shader_cycles) {
    // gfx12 has all of them, in two registers.
    const u32 known = w.program->set == InstructionSet::gfx12 ? ~0U : 0xFFFFF;
    value = static_cast<u32>(service_cycles()) & known;
  }
  if (id == register_shader_cycles_high) value = static_cast<u32>(service_cycles() >> 32);
  write_scalar(w, i.destination,
               value >> (static_cast<unsigned>(i.immediate) >> 6 & 31) & field_mask(i.immediate));
}

ALWAYS_INLINE void set_register(Wave& w, const Instruction& i, u32 value) {
  if ((i.immediate & 63) != register_mode) return;
  const unsigned offset = static_cast<unsigned>(i.immediate) >> 6 & 31;
  const u32 mask = field_mask(i.immediate) << offset & ~w.fixed_mode;
  w.mode = (w.mode & ~mask) | (value << offset & mask);
}
OPERATION(s_setreg_b32) { set_register(w, i, scalar_u32(w, i.source[0])); }
OPERATION(s_setreg_imm32_b32) { set_register(w, i, scalar_u32(w, i.source[0])); }
OPERATION(s_round_mode) {
  w.mode = (w.mode & ~mode::rounding) | (static_cast<u32>(i.immediate) & mode::rounding);
}
OPERATION(s_denorm_mode) {
  w.mode = (w.mode & ~mode::denormals) |
           (static_cast<u32>(i.immediate) << mode::denormals_shift & mode::denormals);
}

// ---- what decoding inserts

OPERATION(engine_copy) {
  const std::uint32_t exec = exec_of(w, i);
  write_row(w, exec, i.destination.value, read_u32(w, i.source[0]));
}

#if defined(__SSE2__)
// MXCSR for the wave's MODE: rounding, denormal inputs as zero, denormal results as zero.
ALWAYS_INLINE u32 control_word(u32 mode, bool half_and_double) {
  constexpr u32 all_masked = 0x1F80;
  constexpr u32 rounding[] = {0, 2, 1, 3};  // nearest even, up, down, toward zero
  const u32 round = mode >> (half_and_double ? 2 : 0) & 3;
  const u32 denormals = mode >> (half_and_double ? 6 : 4) & 3;
  return all_masked | rounding[round] << 13 | ((denormals & 1) == 0 ? 0x40U : 0U) |
         ((denormals & 2) == 0 ? 0x8000U : 0U);
}
OPERATION(engine_mode_enter) {
  w.saved_control = _mm_getcsr();
  _mm_setcsr(control_word(w.mode, i.immediate != 0));
}
OPERATION(engine_mode_leave) { _mm_setcsr(w.saved_control); }
#endif

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
