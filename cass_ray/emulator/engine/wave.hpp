// The state of a wave and of its workgroup.
#pragma once

#include <cstddef>
#include <cstdint>

#include "instruction.hpp"

namespace cass::amdgpu {

struct Program;
struct Workgroup;

// Places in Wave::scalar beyond the SGPRs' own numbers (RDNA3 ISA, 3.4.1 and table 1).
namespace scalar {
inline constexpr unsigned vcc = 106;
inline constexpr unsigned ttmp = 108;        // gfx12 finds the workgroup's number in 7 and 9
inline constexpr unsigned null = 124;
inline constexpr unsigned m0 = 125;
inline constexpr unsigned exec = 126;
inline constexpr unsigned apertures =
    256;   // shared base, shared limit, private base, limit: 64 bit
inline constexpr unsigned vccz = 264;
inline constexpr unsigned execz = 265;
inline constexpr unsigned scc = 266;
inline constexpr unsigned discard = 272;     // what is written to NULL; 16 places
inline constexpr unsigned zero = 288;        // reads of NULL; 16 places, never written
inline constexpr unsigned kept = 304;        // sources that half of a wave of 64 would overwrite
inline constexpr unsigned count = 312;
}  // namespace scalar

inline constexpr unsigned lanes = 32;

struct alignas(128) Row {
  std::uint32_t lane[lanes];
};

// MODE (RDNA3 ISA, 3.4.2): rounding of f32 in bits 1:0, of f16 and f64 in 3:2, denormals kept by
// f32 in 5:4 (inputs, outputs), by f16 and f64 in 7:6.
namespace mode {
inline constexpr std::uint32_t rounding = 0xF;
inline constexpr std::uint32_t denormals = 0xF0;
inline constexpr unsigned denormals_shift = 4;
inline constexpr std::uint32_t usual = denormals;  // all kept, rounding to nearest even
inline constexpr std::uint32_t dx10_clamp = 1U << 8;  // clamping turns NaN into 0
inline constexpr std::uint32_t ieee = 1U << 9;        // minimum and maximum quiet NaN
inline constexpr std::uint32_t minimum_number = 1U << 31;  // gfx12: the first of two NaN, quiet
}  // namespace mode

inline constexpr unsigned temporary_rows = 4;  // DPP and SDWA sources and results, dual issue

enum class WaveState : std::uint8_t {
  runnable,       // not started, or its budget of backward branches ran out
  at_barrier,
  at_grid_barrier,
  finished,
  faulted,        // Wave::fault says how
};

enum class WaveFault : std::uint8_t {
  none,
  unsupported_instruction,
  invalid_instruction,
  jump_outside_code,
  trap,
  stack_overflow,
  memory_access,
  check,          // the checking mode recorded the fault itself
};

// Private (scratch) addresses in flat address space: the high half of these. Not canonical on
// x86-64, so that no host pointer looks like one.
inline constexpr std::uint32_t private_aperture_high = 0x0001'0000;

struct alignas(128) Wave {
  std::uint32_t scalar[scalar::count];

  const Instruction* next = nullptr;      // where to go on
  const Instruction* current = nullptr;   // the last instruction that may fault
  Workgroup* workgroup = nullptr;
  const Program* program = nullptr;
  std::byte* lds = nullptr;               // on a 4 GiB boundary
  std::byte* scratch = nullptr;           // of lane 0
  std::uint32_t scratch_stride = 0;       // bytes per lane
  std::uint32_t lds_size = 0;             // bytes
  std::uint32_t lds_reach = 0;            // bytes: what hardware gives out for lds_size
  std::int32_t budget = 0;                // backward branches before others get a turn
  std::uint32_t mode = 0;                 // hardware register MODE
  std::uint32_t saved_exec[2] = {};       // of each half, during an instruction with DPP
  std::uint32_t dpp_exec[2] = {};         // the lanes that it writes
  std::uint32_t signals = 0;              // of the workgroup's barrier: given by this wave
  std::uint32_t waits = 0;                // and waited for
  std::uint32_t fixed_mode = 0;           // bits of MODE that the instruction set does not have
  std::uint32_t saved_control = 0;        // MXCSR during an instruction with a special MODE
  std::uint16_t index = 0;                // in the workgroup
  std::uint16_t vector_count = 0;         // VGPRs that exist
  WaveState state = WaveState::runnable;
  WaveFault fault = WaveFault::none;
  bool single = false;                    // the only wave of its workgroup
  bool wide = false;                      // 64 lanes
  std::uint32_t row_stride = sizeof(Row); // bytes from a VGPR to the next one
  std::uint64_t fault_address = 0;
  std::uint64_t executed = 0;

  alignas(128) Row temporary[temporary_rows];
  // The VGPRs follow: one row each, two for a wave of 64 lanes (low half, high half).
};

inline constexpr std::uint32_t vector_file_offset = sizeof(Wave);
static_assert(vector_file_offset % 128 == 0);

constexpr std::uint32_t scalar_offset(unsigned index) {
  return static_cast<std::uint32_t>(offsetof(Wave, scalar) + 4 * index);
}

constexpr std::uint32_t temporary_offset(unsigned index) {
  return static_cast<std::uint32_t>(offsetof(Wave, temporary) + sizeof(Row) * index);
}

// `wide`: rows of the two halves alternate, so that half 1 is one row further on.
constexpr std::uint32_t vector_offset(unsigned index, bool wide, unsigned half) {
  return vector_file_offset +
         static_cast<std::uint32_t>(sizeof(Row) * (wide ? 2 * index + half : index));
}

inline Row& vector_row(Wave& wave, unsigned index, unsigned half = 0) {
  return *reinterpret_cast<Row*>(reinterpret_cast<std::byte*>(&wave) +
                                 vector_offset(index, wave.wide, half));
}

}  // namespace cass::amdgpu
