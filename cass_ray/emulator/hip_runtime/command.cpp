#include "command.hpp"

#include "device.hpp"

namespace cass::hip {

namespace {

// A kernel may wait for a command that the program queued after it in another stream. Such a
// program loses this time once.
constexpr std::chrono::seconds longest_turn{2};

}  // namespace

void Command::wait() {
  if (finished()) return;
  demand();
  std::unique_lock lock(guard_);
  changed_.wait(lock, [this] { return finished(); });
}

void Command::demand() {
  if (!Device::is_late()) return;
  CommandPointer before;
  for (Command* command = this; command != nullptr; command = before.get()) {
    const CommandPointer kept = std::move(before);
    const std::lock_guard lock(command->guard_);
    if (std::exchange(command->demanded_, true)) return;
    before = command->previous_;
    command->changed_.notify_all();
  }
}

bool Command::await_demand(Clock::duration patience) {
  std::unique_lock lock(guard_);
  return changed_.wait_for(lock, patience, [this] { return demanded_; });
}

void Command::wait_for_turn() {
  if (earlier_ == nullptr || Device::is_late() || !device_.takes_turns()) return;
  std::unique_lock lock(earlier_->guard_);
  const bool over =
      earlier_->changed_.wait_for(lock, longest_turn, [this] { return earlier_->finished(); });
  if (!over) device_.let_streams_overlap();
}

void Command::execute() {
  for (const auto& command : after_) command->wait();
  wait_for_turn();
  {
    const std::lock_guard lock(guard_);
    after_.clear();  // else every command would keep all earlier ones alive
    earlier_.reset();
    previous_.reset();
  }
  started_at_ = Clock::now();
  result_ = device_.failure();
  if (result_ == hipSuccess) {
    result_ = operation_->run();
    if (result_ != hipSuccess) device_.fail(result_);
  }
  operation_.reset();
  finished_at_ = Clock::now();
  const std::lock_guard lock(guard_);
  finished_.store(true, std::memory_order_release);
  changed_.notify_all();
}

}  // namespace cass::hip
