// One operation in one stream's queue, and what it waits for.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "operation.hpp"

namespace cass::hip {

class Command;
class Device;
using CommandPointer = std::shared_ptr<Command>;

class Command {
 public:
  using Clock = std::chrono::steady_clock;

  // `after`: commands of other streams that have to be finished first. `earlier`: the one that the
  // program queued before this one on the device, whose turn comes first (Device::takes_turns).
  Command(Device& device, std::shared_ptr<Operation> operation, std::vector<CommandPointer> after,
          CommandPointer earlier = nullptr)
      : device_(device),
        operation_(std::move(operation)),
        after_(std::move(after)),
        earlier_(std::move(earlier)) {}

  // Waits for `after` and for its turn, then runs. Called once, by the stream's thread.
  void execute();

  bool finished() const { return finished_.load(std::memory_order_acquire); }
  void wait();

  // Says that somebody needs this command, and with it those before it in its stream. Commands of
  // late streams (Device::is_late) wait for that; elsewhere it does nothing.
  void demand();
  // Names the command before this one in its stream.
  void follow(CommandPointer previous) { previous_ = std::move(previous); }
  // Whether it was demanded before `patience` is over.
  bool await_demand(Clock::duration patience);

  // Valid once finished.
  hipError_t result() const { return result_; }
  Clock::time_point started_at() const { return started_at_; }
  Clock::time_point finished_at() const { return finished_at_; }

 private:
  void wait_for_turn();

  Device& device_;
  std::shared_ptr<Operation> operation_;
  std::vector<CommandPointer> after_;
  CommandPointer earlier_;
  CommandPointer previous_;
  bool demanded_ = false;
  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  hipError_t result_ = hipSuccess;
  Clock::time_point started_at_;
  Clock::time_point finished_at_;
  std::atomic<bool> finished_ = false;
};

}  // namespace cass::hip
