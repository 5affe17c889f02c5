// Threads that help the callers of `run`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace cass::amdgpu {

class ThreadPool {
 public:
  // Settings::threads threads, the caller's included; else as many as the process may use.
  static ThreadPool& instance();

  unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

  // Calls `work` on the calling thread and, as they become free, on up to `helpers` others; returns
  // when all of these calls have returned. Helpers that did not start by then never will.
  void share(unsigned helpers, const std::function<void()>& work);

 private:
  struct Job {
    const std::function<void()>* work;
    unsigned wanted;
    unsigned active = 0;
  };

  explicit ThreadPool(unsigned size);
  ~ThreadPool();
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::list<Job*> jobs_;
  std::vector<std::thread> threads_;
};

}  // namespace cass::amdgpu
