#include "stream.hpp"

#include <utility>

#include "capture.hpp"
#include "device.hpp"

namespace cass::hip {
namespace {

thread_local bool is_worker = false;

// Where streams are late: a program may wait for a command by no function of the runtime, as one
// that reads a flag in mapped memory does. It goes on after this time.
constexpr std::chrono::milliseconds patience{300};

}  // namespace

bool Stream::on_worker_thread() { return is_worker; }

Stream::~Stream() {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  changed_.notify_one();
  demand_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // destroyed by a callback of its own
  } else {
    thread_.join();
  }
}

void Stream::push(CommandPointer command) {
  {
    const std::lock_guard lock(guard_);
    command->follow(std::move(last_));
    last_ = command;
    queue_.push_back(std::move(command));
    if (!thread_.joinable()) thread_ = std::thread(&Stream::work, this);
  }
  changed_.notify_one();
}

CommandPointer Stream::pending() const {
  const std::lock_guard lock(guard_);
  return last_ == nullptr || last_->finished() ? nullptr : last_;
}

void Stream::demand_all() {
  CommandPointer newest;
  {
    const std::lock_guard lock(guard_);
    newest = last_;
  }
  if (newest != nullptr) newest->demand();
}

void Stream::work() {
  is_worker = true;
  std::unique_lock lock(guard_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto command = std::move(queue_.front());
    queue_.pop_front();
    const bool is_last_chance = stopping_;
    lock.unlock();
    if (Device::is_late() && !is_last_chance && !command->await_demand(patience)) demand_all();
    command->execute();
    lock.lock();
    if (last_ == command) last_.reset();
  }
}

}  // namespace cass::hip
