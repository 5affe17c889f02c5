#include "command.hpp"

#include "device.hpp"

namespace cass::hip {

void Command::execute() {
  for (const auto& command : after_) command->wait();
  after_.clear();  // else every command would keep all earlier ones alive
  started_at_ = Clock::now();
  result_ = device_.failure();
  if (result_ == hipSuccess) {
    result_ = operation_->run();
    if (result_ != hipSuccess) device_.fail(result_);
  }
  operation_.reset();
  finished_at_ = Clock::now();
  finished_.store(true, std::memory_order_release);
  finished_.notify_all();
}

}  // namespace cass::hip
