#include "thread_pool.hpp"

#include <sched.h>

#include <algorithm>

#include "settings.hpp"

namespace cass::amdgpu {
namespace {

unsigned wanted_size() {
  if (const unsigned number = settings().threads; number > 0) return std::min(number, 1024U);
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) {
    return std::max(1U, static_cast<unsigned>(CPU_COUNT(&usable)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

ThreadPool& ThreadPool::instance() {
  // Never destroyed: exit handlers of the host program may still launch kernels.
  static ThreadPool* pool = new ThreadPool(wanted_size());
  return *pool;
}

ThreadPool::ThreadPool(unsigned size) {
  for (unsigned i = 1; i < size; ++i) {
    threads_.emplace_back([this] { serve(); });
    threads_.back().detach();
  }
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::share(unsigned helpers, const std::function<void()>& work) {
  Job job{&work, std::min(helpers, size() - 1)};
  if (job.wanted != 0) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    for (unsigned i = 0; i < job.wanted; ++i) wake_.notify_one();
  }
  work();
  if (helpers == 0) return;
  std::unique_lock lock(mutex_);
  jobs_.remove(&job);
  done_.wait(lock, [&] { return job.active == 0; });
}

void ThreadPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !jobs_.empty(); });
    Job* job = jobs_.front();
    if (--job->wanted == 0) jobs_.pop_front();
    ++job->active;
    lock.unlock();
    (*job->work)();
    lock.lock();
    if (--job->active == 0) done_.notify_all();
  }
}

}  // namespace cass::amdgpu
