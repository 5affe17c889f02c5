#include "workgroup.hpp"

#include <setjmp.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <new>

#include "access_violation.hpp"
#include "machine_services.hpp"
#include "memory_check.hpp"
#include "settings.hpp"

namespace cass::amdgpu {
namespace {

constexpr std::uint64_t aperture_step = std::uint64_t{1} << 32;
constexpr std::uint64_t first_aperture = 0x1000'0000'0000;  // far from where mmap places memory
constexpr std::uint64_t last_aperture = 0x5000'0000'0000;
constexpr std::size_t page = 4096;
// Behind a workgroup's LDS lie zeros, which loads beyond it read (instructions/lds_address.hpp).
constexpr std::size_t zeros = 64;
constexpr std::size_t arena_bytes = most_lds_bytes + page;
constexpr std::size_t guard = 16 * page;

// Backward branches of a wave until the next wave of its workgroup gets a turn. Long enough to cost
// nothing, short enough for waves that wait for one another in a loop.
constexpr std::int32_t branches_per_turn = 4'000;
// Turns of all waves until another workgroup gets one, if waves still run when their turn ends; and
// turns that end at barriers. Few of the former: a wave may be waiting for that other workgroup.
constexpr unsigned turns_per_share = 2;
// Where waves take turns at each backward branch and each wait for memory as on a card
// (Settings::interleave): up to so many turns until another workgroup gets one, which shows what
// only a lock or an atomic operation keeps apart; then, since a switch costs more than a turn, as
// many as there are branches elsewhere. And turns until the next look at the clock.
constexpr unsigned most_short_turns = 4;
constexpr unsigned short_shares = 2'048;
constexpr unsigned interleaved_turns_per_share = turns_per_share * branches_per_turn;
constexpr unsigned turns_per_look = 64;
constexpr unsigned barriers_per_share = 1'000;

// Behind a wave's VGPRs: an instruction whose registers run over the last one (12 addresses of an
// image, from v255 on) does not reach the next wave's state.
constexpr std::size_t spare_rows = 16;

void throw_if_failed(const void* memory) {
  if (memory == MAP_FAILED) throw std::bad_alloc();
}

}  // namespace

std::uint64_t steady_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void set_fixed_mode(LaunchState& state) {
  state.fixed_mode = 0;
  if (state.program->set != InstructionSet::gfx12) return;
  state.fixed_mode = mode::dx10_clamp | mode::ieee | mode::minimum_number;
  state.mode = (state.mode & ~state.fixed_mode) | mode::dx10_clamp | mode::minimum_number;
}

LdsArena::LdsArena() {
  static std::atomic<std::uint64_t> next{first_aperture};
  for (std::uint64_t at = next += aperture_step; at < last_aperture; at = next += aperture_step) {
    void* memory = mmap(reinterpret_cast<void*>(at), arena_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED) continue;
    data_ = static_cast<std::byte*>(memory);
    return;
  }
  throw std::bad_alloc();
}

LdsArena::~LdsArena() { munmap(data_, arena_bytes); }

void LdsArena::limit(std::size_t bytes) {
  if (bytes == accessible_) return;
  std::byte* const behind = data_ + bytes;
  if (mprotect(data_, bytes, PROT_READ | PROT_WRITE) != 0 ||
      mprotect(behind, page, PROT_READ) != 0 ||
      madvise(behind, page, MADV_DONTNEED) != 0 ||  // zeros again, whatever was there
      (bytes < accessible_ && mprotect(behind + page, accessible_ - bytes, PROT_NONE) != 0)) {
    throw std::bad_alloc();
  }
  accessible_ = bytes;
}

void GuardedMemory::reserve(std::size_t size) {
  if (size <= size_) return;
  const std::size_t rounded = (size + page - 1) / page * page;
  void* memory = mmap(nullptr, rounded + 2 * guard, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  throw_if_failed(memory);
  auto* start = static_cast<std::byte*>(memory) + guard;
  if (mprotect(start, rounded, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, rounded + 2 * guard);
    throw std::bad_alloc();
  }
  if (data_ != nullptr) munmap(data_ - guard, size_ + 2 * guard);
  data_ = start;
  size_ = rounded;
}

GuardedMemory::~GuardedMemory() {
  if (data_ != nullptr) munmap(data_ - guard, size_ + 2 * guard);
}

Workgroup::Workgroup() = default;
Workgroup::~Workgroup() = default;

void Workgroup::adopt(const LaunchState& state) {
  if (launch_serial == state.serial) return;
  launch_serial = state.serial;
  launch = &state;
  wave_count = state.wave_count;
  lds.limit(lds_bytes_of(state.program->set));
  const std::uint32_t granule = lds_granule_of(state.program->set);
  const std::uint32_t reach = (state.lds_bytes + granule - 1) / granule * granule;
  if (reach < lds_bytes_of(state.program->set)) std::memset(lds.data() + reach, 0, zeros);
  const std::size_t rows =
      std::max<std::size_t>({state.program->vector_count, state.kernel->vgpr_count, 1}) + 1;
  const unsigned halves = state.wide ? 2 : 1;
  wave_stride = sizeof(Wave) + (rows + spare_rows) * halves * sizeof(Row);
  waves.reserve(wave_stride * wave_count);
  const std::size_t scratch_of_wave = std::size_t{state.scratch_stride} * lanes * halves;
  if (scratch_of_wave != 0) scratch.reserve(scratch_of_wave * wave_count);
  if (counting()) {
    counters = std::make_unique<Counters>();
    counters->reached.resize(state.program->size / 4 + 1);
  }
  if (checking()) shadow = std::make_unique<LdsShadow>();
  for (unsigned index = 0; index < wave_count; ++index) {
    Wave& wave = this->wave(index);
    std::memset(static_cast<void*>(&wave), 0, sizeof wave);
    wave.workgroup = this;
    wave.program = state.program;
    wave.lds = lds.data();
    wave.lds_size = state.lds_bytes;
    wave.lds_reach = reach;
    wave.scratch = scratch_of_wave != 0 ? scratch.data() + scratch_of_wave * index : nullptr;
    wave.scratch_stride = state.scratch_stride;
    wave.index = static_cast<std::uint16_t>(index);
    wave.vector_count = static_cast<std::uint16_t>(rows - 1);
    wave.single = wave_count == 1;
    wave.wide = state.wide;
    wave.row_stride = static_cast<std::uint32_t>(sizeof(Row) * halves);
    wave.fixed_mode = state.fixed_mode;
    const auto base = reinterpret_cast<std::uint64_t>(lds.data());
    const std::uint64_t bases[] = {base, base + 0xFFFF'FFFF,
                                   std::uint64_t{private_aperture_high} << 32,
                                   (std::uint64_t{private_aperture_high} << 32) + 0xFFFF'FFFF};
    std::memcpy(&wave.scalar[scalar::apertures], bases, sizeof bases);
  }
}

void Workgroup::start(std::uint64_t flat) {
  const auto& grid = launch->launch->grid_blocks;
  flat_id = flat;
  shares_ = 0;
  id = {static_cast<std::uint32_t>(flat % grid[0]),
        static_cast<std::uint32_t>(flat / grid[0] % grid[1]),
        static_cast<std::uint32_t>(flat / grid[0] / grid[1])};
  if (shadow != nullptr) shadow->reset(launch->lds_bytes);
  const UserSgprs& user = launch->kernel->user_sgprs;
  const unsigned halves = launch->wide ? 2 : 1;
  for (unsigned index = 0; index < wave_count; ++index) {
    Wave& wave = this->wave(index);
    std::memcpy(wave.scalar, launch->user_sgprs.data(), 4 * launch->user_sgprs.size());
    unsigned at = user.count;
    if (user.workgroup_id_x) wave.scalar[at++] = id[0];
    if (user.workgroup_id_y) wave.scalar[at++] = id[1];
    if (user.workgroup_id_z) wave.scalar[at++] = id[2];
    if (user.workgroup_info) wave.scalar[at++] = 0;
    if (user.private_segment_offset) wave.scalar[at++] = 0;
    if (launch->program->set == InstructionSet::gfx12) {
      wave.scalar[scalar::ttmp + 7] = (id[1] & 0xFFFF) | id[2] << 16;
      wave.scalar[scalar::ttmp + 8] = index << 25;
      wave.scalar[scalar::ttmp + 9] = id[0];
    }
    wave.scalar[scalar::exec + 1] = 0;
    for (unsigned half = 0; half < halves; ++half) {
      wave.scalar[scalar::exec + half] = launch->active[index * halves + half];
      std::memcpy(&vector_row(wave, 0, half), &launch->work_item_ids[index * halves + half],
                  sizeof(Row));
    }
    wave.mode = launch->mode;
    wave.signals = wave.waits = 0;
    wave.next = launch->entry;
    wave.state = WaveState::runnable;
  }
}

Outcome Workgroup::advance() {
  sigjmp_buf recovery;
  const AccessGuard guard_of_thread(&recovery);
  if (sigsetjmp(recovery, 0) != 0) {
    // The CPU refused an address in a handler of the wave that has its turn.
    Wave& wave = this->wave(faulted_wave);
    wave.state = WaveState::faulted;
    wave.fault = WaveFault::memory_access;
    wave.fault_address = guard_of_thread.address();
    return Outcome::faulted;
  }
  const bool interleave = settings().interleave;
  const auto most_turns = interleave ? interleaved_turns() : turns_per_share;
  unsigned turns = 0;
  for (unsigned barriers = 0; barriers < barriers_per_share;) {
    bool runnable = false;
    bool sleeping = false;
    const Outcome outcome = interleave ? turn(0, turns % turns_per_look == 0, runnable, sleeping)
                                       : turn(branches_per_turn, true, runnable, sleeping);
    if (outcome != Outcome::preempted) return outcome;
    if ((runnable || sleeping) && release_signaled()) runnable = true;
    if (runnable && ++turns == most_turns) return Outcome::preempted;
    if (runnable) continue;
    if (sleeping) return Outcome::sleeping;
    ++barriers;
    const Outcome barrier = release_barrier();
    if (barrier != Outcome::preempted) return barrier;
  }
  return is_late() ? Outcome::out_of_time : Outcome::preempted;
}

// How many turns this share has: another number each time, so that no loop of a kernel stays in
// step with it.
unsigned Workgroup::interleaved_turns() {
  if (shares_ == short_shares) return interleaved_turns_per_share;
  ++shares_;
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  return 1 + static_cast<unsigned>((flat_id * short_shares + shares_) * golden >> 40U) %
                 most_short_turns;
}

bool Workgroup::is_late() const {
  return launch->deadline != 0 && steady_nanoseconds() > launch->deadline;
}

// Lets every runnable wave run for so many backward branches. `look`: at the clock. `runnable`:
// some of them could go on at once; `sleeping`: some said that they wait for others.
Outcome Workgroup::turn(std::int32_t branches, bool look, bool& runnable, bool& sleeping) {
  for (unsigned index = 0; index < wave_count; ++index) {
    Wave& wave = this->wave(index);
    if (wave.state != WaveState::runnable) continue;
    wave.budget = branches;
    faulted_wave = index;
    const Instruction* next = wave.next;
    next->handler(wave, next);
    if (wave.state == WaveState::faulted) return Outcome::faulted;
    if (wave.state == WaveState::runnable) {
      (wave.budget == budget_of_sleeping ? sleeping : runnable) = true;
      if (look && is_late()) return Outcome::out_of_time;
    }
  }
  return Outcome::preempted;
}

// No wave can run: all wait or have finished. One wave arrives at the grid's barrier for all of its
// workgroup (the device library's __ockl_grid_sync), for which the others wait at the workgroup's.
Outcome Workgroup::release_barrier() {
  unsigned waiting_for_grid = 0;
  unsigned unfinished = 0;
  for (unsigned index = 0; index < wave_count; ++index) {
    const WaveState state = wave(index).state;
    unfinished += state != WaveState::finished;
    waiting_for_grid += state == WaveState::at_grid_barrier;
  }
  if (unfinished == 0) return Outcome::finished;
  if (release_signaled()) return Outcome::preempted;
  return waiting_for_grid != 0 ? Outcome::at_grid_barrier : Outcome::deadlocked;
}

// Lets waves go on whose barrier all have signaled; waves that have ended do not count. Those that
// have signaled need not wait yet (gfx12).
bool Workgroup::release_signaled() {
  std::uint32_t signals = ~0U;
  bool released = false;
  for (unsigned index = 0; index < wave_count; ++index) {
    const Wave& wave = this->wave(index);
    if (wave.state != WaveState::finished) signals = std::min(signals, wave.signals);
  }
  for (unsigned index = 0; index < wave_count; ++index) {
    Wave& wave = this->wave(index);
    if (wave.state != WaveState::at_barrier || wave.waits > signals) continue;
    if (!released && shadow != nullptr) check_barrier(*this);
    wave.state = WaveState::runnable;
    released = true;
  }
  return released;
}

}  // namespace cass::amdgpu
