#include "stream.hpp"

#include <utility>

#include "capture.hpp"

namespace cass::hip {
namespace {

thread_local bool is_worker = false;

}  // namespace

bool Stream::on_worker_thread() { return is_worker; }

Stream::~Stream() {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  changed_.notify_one();
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

void Stream::work() {
  is_worker = true;
  std::unique_lock lock(guard_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto command = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    command->execute();
    lock.lock();
    if (last_ == command) last_.reset();
  }
}

}  // namespace cass::hip
