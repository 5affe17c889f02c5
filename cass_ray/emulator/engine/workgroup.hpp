// A resident workgroup: its waves, LDS and scratch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "counters.hpp"
#include "engine.hpp"
#include "launch_block.hpp"
#include "program.hpp"
#include "wave.hpp"

namespace cass::amdgpu {

struct LaunchState;
struct LdsShadow;
class GlobalWriters;

// 64 KiB of LDS on a 4 GiB boundary, so that its flat addresses are host addresses.
class LdsArena {
 public:
  LdsArena();
  ~LdsArena();
  LdsArena(const LdsArena&) = delete;
  LdsArena& operator=(const LdsArena&) = delete;
  std::byte* data() const { return data_; }

  // Makes so many bytes accessible, at most most_lds_bytes, and a page of zeros behind them
  // readable.
  void limit(std::size_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::size_t accessible_ = 0;
};

// Page-aligned memory between guard pages.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  void reserve(std::size_t size);  // at least this much; throws std::bad_alloc
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

enum class Outcome : std::uint8_t {
  finished,
  preempted,        // still runnable; others should get a turn
  sleeping,         // the same, and it has nothing to do until others have done something
  at_grid_barrier,
  faulted,
  deadlocked,
  out_of_time,
};

struct Workgroup {
  const LaunchState* launch = nullptr;
  std::uint64_t launch_serial = 0;
  std::array<std::uint32_t, 3> id{};
  std::uint64_t flat_id = 0;
  unsigned wave_count = 0;
  unsigned faulted_wave = 0;

  LdsArena lds;
  GuardedMemory waves;
  GuardedMemory scratch;
  std::size_t wave_stride = 0;
  std::unique_ptr<Counters> counters;      // where the launch is counted
  std::unique_ptr<LdsShadow> shadow;       // in checking mode

  Workgroup();
  ~Workgroup();

  Wave& wave(unsigned index) {
    return *reinterpret_cast<Wave*>(waves.data() + index * wave_stride);
  }

  // Makes room for the launch's waves. Called when a slot meets a new launch.
  void adopt(const LaunchState& state);
  // Puts the waves at the kernel's entry for workgroup number `flat`.
  void start(std::uint64_t flat);
  // Runs until the group finishes, faults, waits for others or has had its share of turns.
  Outcome advance();

 private:
  Outcome turn(std::int32_t branches, bool look, bool& runnable, bool& sleeping);
  Outcome release_barrier();
  bool release_signaled();
  bool is_late() const;
  unsigned interleaved_turns();

  unsigned shares_ = 0;  // that the workgroup had; where waves take turns as on a card
};

struct GiveBack {
  void operator()(LaunchBlock* block) const { block->give_back(); }
};

// What all workgroups of a launch have in common.
struct LaunchState {
  std::uint64_t serial = 0;                // unique in the process
  const Launch* launch = nullptr;
  const Kernel* kernel = nullptr;
  const Program* program = nullptr;
  const Instruction* entry = nullptr;
  bool wide = false;
  unsigned wave_count = 0;                 // of each workgroup
  std::uint64_t workgroup_count = 0;
  std::uint32_t scratch_stride = 0;        // bytes per lane
  std::uint32_t lds_bytes = 0;
  std::uint32_t mode = 0;
  std::uint32_t fixed_mode = 0;            // Wave::fixed_mode
  std::vector<std::uint32_t> user_sgprs;   // same for all waves
  std::vector<Row> work_item_ids;          // v0, by wave (and half)
  std::vector<std::uint32_t> active;       // EXEC, by wave (and half)
  std::unique_ptr<LaunchBlock, GiveBack> block;
  std::uint64_t deadline = 0;              // steady clock, nanoseconds; 0: none
  std::shared_ptr<GlobalWriters> writers;  // in checking mode
};

// The bits of MODE that the instruction set does not have. gfx12: NaN is always clamped to 0, and
// minima are those of numbers (RDNA4 ISA, 3.3.2); compute_pgm_rsrc1 has other fields there.
void set_fixed_mode(LaunchState& state);

std::uint64_t steady_nanoseconds();

}  // namespace cass::amdgpu
