// One operation in one stream's queue, and what it waits for.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <chrono>
#include <memory>
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

  // `after`: commands of other streams that have to be finished first.
  Command(Device& device, std::shared_ptr<Operation> operation, std::vector<CommandPointer> after)
      : device_(device), operation_(std::move(operation)), after_(std::move(after)) {}

  // Waits for `after`, then runs. Called once, by the stream's thread.
  void execute();

  bool finished() const { return finished_.load(std::memory_order_acquire); }
  void wait() const { finished_.wait(false, std::memory_order_acquire); }

  // Valid once finished.
  hipError_t result() const { return result_; }
  Clock::time_point started_at() const { return started_at_; }
  Clock::time_point finished_at() const { return finished_at_; }

 private:
  Device& device_;
  std::shared_ptr<Operation> operation_;
  std::vector<CommandPointer> after_;
  hipError_t result_ = hipSuccess;
  Clock::time_point started_at_;
  Clock::time_point finished_at_;
  std::atomic<bool> finished_ = false;
};

}  // namespace cass::hip
