// Runs the workgroups of a launch on the thread pool.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "counters.hpp"
#include "launch.hpp"
#include "memory_check.hpp"
#include "settings.hpp"
#include "thread_pool.hpp"

namespace cass::amdgpu {
namespace {

// Workgroups that have started and wait for others, beyond one per thread: enough for kernels whose
// workgroups wait for one another in turn.
constexpr std::uint64_t max_waiting = 256;

// Workgroups that start between two looks at the clock.
constexpr std::uint64_t starts_per_look = 1024;

// Workgroups that a thread claims at once: neighbours use neighbouring memory, and a claim is seen
// by all threads. Few enough that no thread is left with much when the others have finished.
constexpr std::uint64_t max_claim = 16;
constexpr std::uint64_t claims_per_thread = 32;

// Workgroups that start in reverse where waves take turns as on a card: no order is promised there.
// Few, because many programs wait for workgroups before their own.
constexpr std::uint64_t reversed_workgroups = 4;

// The workgroup that starts as the one of this number. The last one is among those reversed.
std::uint64_t in_reverse(std::uint64_t number, std::uint64_t count) {
  const std::uint64_t remainder = count % reversed_workgroups;
  if (number < remainder) return remainder - 1 - number;
  const std::uint64_t within = (number - remainder) % reversed_workgroups;
  return number - within + reversed_workgroups - 1 - within;
}

// Workgroups that a thread has claimed and not started.
struct Share {
  std::uint64_t next = 0;
  std::uint64_t end = 0;
  bool empty() const { return next == end; }
};

// Slots outlive launches: a workgroup's memory is mapped once.
class SlotPool {
 public:
  static SlotPool& instance() {
    static auto* pool = new SlotPool;  // threads may still run at exit
    return *pool;
  }

  std::unique_ptr<Workgroup> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto slot = std::move(free_.back());
        free_.pop_back();
        return slot;
      }
    }
    return std::make_unique<Workgroup>();
  }

  void give_back(std::unique_ptr<Workgroup> slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workgroup>> free_;
};

class Scheduler {
 public:
  explicit Scheduler(const LaunchState& state)
      : state_(state),
        limit_(state.launch->cooperative ? state.workgroup_count : max_waiting),
        claim_size_(std::clamp<std::uint64_t>(
            state.workgroup_count / (ThreadPool::instance().size() * claims_per_thread), 1,
            state.launch->cooperative ? 1 : max_claim)) {}

  std::optional<Fault> run() {
    const std::uint64_t others = state_.workgroup_count - 1;
    // Checking is deterministic, and its shadow memory unlocked: one thread.
    const auto helpers = checking() ? 0U
                                    : static_cast<unsigned>(std::min<std::uint64_t>(
                                          others, ThreadPool::instance().size() - 1));
    ThreadPool::instance().share(helpers, [this] { work(); });
    for (auto& slot : grid_barrier_) SlotPool::instance().give_back(std::move(slot));
    for (auto& slot : waiting_) SlotPool::instance().give_back(std::move(slot));
    return std::move(fault_);
  }

 private:
  void work() {
    std::unique_ptr<Workgroup> slot = SlotPool::instance().take();
    Share share;
    while (!stopped_.load(std::memory_order_relaxed)) {
      const bool eager = state_.launch->cooperative || fruitless_ >= waiting_count_;
      if (!(eager && start_next(*slot, share)) && !resume_waiting(slot) &&
          !start_next(*slot, share)) {
        if (share.empty()) break;
        continue;
      }
      while (!settle(slot, share)) {
      }
    }
    SlotPool::instance().give_back(std::move(slot));
  }

  // The next workgroup of the grid, unless too many wait already.
  bool start_next(Workgroup& slot, Share& share) {
    if (waiting_count_.load(std::memory_order_relaxed) >= limit_ && !waiting_empty()) return false;
    if (share.empty() && !claim(share)) return false;
    const std::uint64_t flat = share.next++;
    note_progress();
    slot.adopt(state_);
    slot.start(settings().interleave ? in_reverse(flat, state_.workgroup_count) : flat);
    if (flat % starts_per_look == 0 && state_.deadline != 0 &&
        steady_nanoseconds() > state_.deadline) {
      fail(describe(slot, Outcome::out_of_time));
    }
    return true;
  }

  // Workgroups that wait for one another should run at the same time: one by one then.
  bool claim(Share& share) {
    if (next_.load(std::memory_order_relaxed) >= state_.workgroup_count) return false;
    const std::uint64_t size = has_waited_.load(std::memory_order_relaxed) ? 1 : claim_size_;
    share.next = std::min(next_.fetch_add(size, std::memory_order_relaxed), state_.workgroup_count);
    share.end = std::min(share.next + size, state_.workgroup_count);
    return !share.empty();
  }

  bool waiting_empty() {
    const std::lock_guard lock(mutex_);
    return waiting_.empty();
  }

  // The one that waits longest. Waits where others may still release a grid barrier.
  bool resume_waiting(std::unique_ptr<Workgroup>& slot) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!waiting_.empty()) {
        SlotPool::instance().give_back(std::move(slot));
        slot = std::move(waiting_.front());
        waiting_.pop_front();
        --waiting_count_;
        return true;
      }
      if (grid_barrier_.empty() || stopped_) return false;
      changed_.wait(lock);
    }
  }

  // False where the same workgroup should go on at once.
  bool settle(std::unique_ptr<Workgroup>& slot, const Share& share) {
    const Outcome outcome = slot->advance();
    switch (outcome) {
      case Outcome::finished: finish(*slot); return true;
      case Outcome::preempted: return put_back(slot, share);
      case Outcome::sleeping:
        fruitless_ = max_waiting;
        if (put_back(slot, share)) return true;
        // What it waits for runs on another thread, which may need this CPU.
        std::this_thread::yield();
        return stopped_;
      case Outcome::at_grid_barrier: arrive(slot); return true;
      default: fail(describe(*slot, outcome)); return true;
    }
  }

  void finish(Workgroup& slot) {
    if (counting()) count_workgroup(slot);
    note_progress();
    if (!state_.launch->cooperative) return;
    const std::lock_guard lock(mutex_);
    ++finished_;
    release_grid_barrier();
  }

  // Most launches never wait: their threads should not write what others read.
  void note_progress() {
    if (fruitless_.load(std::memory_order_relaxed) != 0) {
      fruitless_.store(0, std::memory_order_relaxed);
    }
  }

  bool put_back(std::unique_ptr<Workgroup>& slot, const Share& share) {
    if (stopped_) return true;
    has_waited_ = true;
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() && share.empty() && next_.load() >= state_.workgroup_count) return false;
    waiting_.push_back(std::move(slot));
    ++waiting_count_;
    ++fruitless_;
    slot = SlotPool::instance().take();
    return true;
  }

  void arrive(std::unique_ptr<Workgroup>& slot) {
    if (!state_.launch->cooperative) {
      Fault fault = describe(*slot, Outcome::deadlocked);
      fault.message = "grid-wide synchronisation in a kernel that was not launched cooperatively";
      fail(std::move(fault));
      return;
    }
    const std::lock_guard lock(mutex_);
    grid_barrier_.push_back(std::move(slot));
    release_grid_barrier();
    slot = SlotPool::instance().take();
  }

  // With mutex_ held: all workgroups have arrived or ended.
  void release_grid_barrier() {
    if (grid_barrier_.empty() || grid_barrier_.size() + finished_ < state_.workgroup_count) return;
    for (auto& slot : grid_barrier_) {
      for (unsigned i = 0; i < slot->wave_count; ++i) {
        Wave& wave = slot->wave(i);
        if (wave.state == WaveState::at_grid_barrier) wave.state = WaveState::runnable;
      }
      waiting_.push_back(std::move(slot));
      ++waiting_count_;
    }
    grid_barrier_.clear();
    changed_.notify_all();
  }

  void fail(Fault fault) {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(fault);
    stopped_ = true;
    changed_.notify_all();
  }

  const LaunchState& state_;
  const std::uint64_t limit_;
  const std::uint64_t claim_size_;
  alignas(64) std::atomic<std::uint64_t> next_{0};  // written often: alone in its cache line
  alignas(64) std::atomic<std::uint64_t> waiting_count_{0};
  // Shares of time since a workgroup started or finished. When all that wait have had one, they may
  // be waiting for a workgroup that has not started.
  std::atomic<std::uint64_t> fruitless_{0};
  std::atomic<bool> has_waited_{false};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Workgroup>> waiting_;
  std::deque<std::unique_ptr<Workgroup>> grid_barrier_;
  std::uint64_t finished_ = 0;  // of a cooperative launch
  std::optional<Fault> fault_;
};

}  // namespace

std::optional<Fault> run(Launch& launch) {
  LaunchState state;
  if (auto fault = prepare(launch, state)) return fault;
  if (checking()) state.writers = std::make_shared<GlobalWriters>();
  if (counting()) count_launch(state);
  return Scheduler(state).run();
}

}  // namespace cass::amdgpu
