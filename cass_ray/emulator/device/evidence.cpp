#include "evidence.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "../engine/counters.hpp"

namespace cass::device {
namespace {

// A mutex that processes share; a process that dies with it does not keep it.
pthread_mutex_t* shared_mutex() {
  void* memory = ::mmap(nullptr, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* mutex = static_cast<pthread_mutex_t*>(memory);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

class Lock {
 public:
  explicit Lock(pthread_mutex_t* mutex) : mutex_(mutex) {
    if (pthread_mutex_lock(mutex_) == EOWNERDEAD) pthread_mutex_consistent(mutex_);
  }
  ~Lock() { pthread_mutex_unlock(mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t* mutex_;
};

}  // namespace

Evidence::Evidence(int launches, int counters) : guard_(shared_mutex()), counters_(counters) {
  if (launches < 0) return;
  void* memory = ::mmap(nullptr, sizeof(Record) * record_count, PROT_READ | PROT_WRITE, MAP_SHARED,
                        launches, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  records_ = static_cast<Record*>(memory);
}

bool Evidence::same(const Record& record, std::string_view kernel, const LaunchShape& shape) const {
  return std::ranges::equal(record.grid, shape.grid_blocks) &&
         std::ranges::equal(record.block, shape.block_threads) &&
         record.shared_bytes == shape.shared_bytes && record.graph == (shape.graph ? 1 : 0) &&
         std::string_view(record.name, strnlen(record.name, name_bytes)) == kernel;
}

void Evidence::count_launch(std::string_view kernel, const LaunchShape& shape) {
  if (records_ == nullptr) return;
  kernel = kernel.substr(0, name_bytes - 1);
  const Lock lock(guard_);
  for (std::size_t k = 0; k < record_count; ++k) {
    Record& record = records_[k];
    if (record.count == 0) {
      std::ranges::copy(shape.grid_blocks, record.grid);
      std::ranges::copy(shape.block_threads, record.block);
      record.shared_bytes = shape.shared_bytes;
      record.graph = shape.graph ? 1 : 0;
      std::ranges::copy(kernel, record.name);
    } else if (!same(record, kernel, shape)) {
      // The last record takes whatever does not fit any more.
      if (k != record_count - 1) continue;
    }
    ++record.count;
    return;
  }
}

void Evidence::write_counters() {
  if (counters_ < 0 || !amdgpu::counting()) return;
  const std::string text = amdgpu::counters_text();
  const Lock lock(guard_);
  ::lseek(counters_, 0, SEEK_END);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(counters_, text.data() + at, text.size() - at);
    if (written <= 0) return;  // the supervisor finds no whole object
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace cass::device
