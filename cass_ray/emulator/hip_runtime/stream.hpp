// A queue of commands and the thread that executes them in order.
#pragma once

#include <hip/hip_runtime_api.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "command.hpp"

namespace cass::hip {

class Capture;
class Device;

class Stream {
 public:
  Stream(Device& device, unsigned flags, int priority)
      : device_(device), flags_(flags), priority_(priority) {}
  ~Stream();  // executes what is queued first
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // The thread starts with the first command.
  void push(CommandPointer command);

  // The newest command that has not finished; null when the stream is idle.
  CommandPointer pending() const;

  Device& device() const { return device_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  bool blocking() const { return (flags_ & hipStreamNonBlocking) == 0; }

  // Guarded by the device's lock: see capture.hpp. Null while the stream does not capture.
  std::shared_ptr<Capture> capture;

  // Whether the calling thread is a stream's: it must not wait for streams.
  static bool on_worker_thread();

 private:
  void work();
  void demand_all();

  Device& device_;
  const unsigned flags_;
  const int priority_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::deque<CommandPointer> queue_;
  CommandPointer last_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace cass::hip
