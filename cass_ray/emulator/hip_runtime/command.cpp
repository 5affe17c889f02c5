#include "command.hpp"

#include "device.hpp"

namespace cass::hip {

namespace {

// A kernel may wait for a command that the program queued after it in another stream. Such a
// program loses this time once.
constexpr std::chrono::seconds longest_turn{2};

}  // namespace

void Command::wait() const {
  if (finished()) return;
  std::unique_lock lock(guard_);
  changed_.wait(lock, [this] { return finished(); });
}

void Command::wait_for_turn() {
  if (earlier_ == nullptr || !device_.takes_turns()) return;
  std::unique_lock lock(earlier_->guard_);
  const bool over =
      earlier_->changed_.wait_for(lock, longest_turn, [this] { return earlier_->finished(); });
  if (!over) device_.let_streams_overlap();
}

void Command::execute() {
  for (const auto& command : after_) command->wait();
  wait_for_turn();
  after_.clear();  // else every command would keep all earlier ones alive
  earlier_.reset();
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
