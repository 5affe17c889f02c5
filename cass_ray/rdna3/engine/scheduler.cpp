// Runs the workgroups of a launch on the thread pool.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "counters.hpp"
#include "memory_check.hpp"
#include "launch.hpp"
#include "thread_pool.hpp"

namespace cass::rdna3 {
namespace {

// Workgroups that have started and wait for others, beyond one per thread: enough for kernels whose
// workgroups wait for one another in turn.
constexpr std::uint64_t max_waiting = 256;

// Workgroups that start between two looks at the clock.
constexpr std::uint64_t starts_per_look = 1024;

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
        limit_(state.launch->cooperative ? state.workgroup_count : max_waiting) {}

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
    while (!stopped_.load(std::memory_order_relaxed)) {
      const bool eager = state_.launch->cooperative || fruitless_ >= waiting_count_;
      if (!(eager && start_next(*slot)) && !resume_waiting(slot) && !start_next(*slot)) break;
      while (!settle(slot)) {
      }
    }
    SlotPool::instance().give_back(std::move(slot));
  }

  // The next workgroup of the grid, unless too many wait already.
  bool start_next(Workgroup& slot) {
    if (waiting_count_.load(std::memory_order_relaxed) >= limit_ && !waiting_empty()) return false;
    if (next_.load(std::memory_order_relaxed) >= state_.workgroup_count) return false;
    const std::uint64_t flat = next_.fetch_add(1, std::memory_order_relaxed);
    if (flat >= state_.workgroup_count) return false;
    note_progress();
    slot.adopt(state_);
    slot.start(flat);
    if (flat % starts_per_look == 0 && state_.deadline != 0 && steady_nanoseconds() > state_.deadline) {
      fail(describe(slot, Outcome::out_of_time));
    }
    return true;
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
  bool settle(std::unique_ptr<Workgroup>& slot) {
    const Outcome outcome = slot->advance();
    switch (outcome) {
      case Outcome::finished: finish(*slot); return true;
      case Outcome::preempted: return put_back(slot);
      case Outcome::sleeping:
        fruitless_ = max_waiting;
        if (put_back(slot)) return true;
        // What it waits for runs on another thread, which may need this CPU.
        std::this_thread::yield();
        return stopped_;
      case Outcome::at_grid_barrier: arrive(slot); return true;
      default: fail(describe(*slot, outcome)); return true;
    }
  }

  void finish(Workgroup& slot) {
    if (counting()) count_workgroup(slot);
    // Only a launch with waiting workgroups needs the lock.
    ++finished_;
    note_progress();
    if (!state_.launch->cooperative) return;
    const std::lock_guard lock(mutex_);
    release_grid_barrier();
  }

  // Most launches never wait: their threads should not write what others read.
  void note_progress() {
    if (fruitless_.load(std::memory_order_relaxed) != 0) {
      fruitless_.store(0, std::memory_order_relaxed);
    }
  }

  bool put_back(std::unique_ptr<Workgroup>& slot) {
    if (stopped_) return true;
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() && next_.load() >= state_.workgroup_count) return false;
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
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> finished_{0};
  std::atomic<std::uint64_t> waiting_count_{0};
  // Shares of time since a workgroup started or finished. When all that wait have had one, they may
  // be waiting for a workgroup that has not started.
  std::atomic<std::uint64_t> fruitless_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Workgroup>> waiting_;
  std::deque<std::unique_ptr<Workgroup>> grid_barrier_;
  std::optional<Fault> fault_;
};

}  // namespace

std::optional<Fault> run(Launch& launch) {
  if (launch.kernel != nullptr) fill_hidden_arguments(launch);
  LaunchState state;
  if (auto fault = prepare(launch, state)) return fault;
  if (checking()) state.writers = std::make_shared<GlobalWriters>();
  if (counting()) count_launch(state);
  auto fault = Scheduler(state).run();
  std::fflush(stdout);
  return fault;
}

}  // namespace cass::rdna3
