#include "exit_status.hpp"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "device.hpp"
#include "errors.hpp"
#include "remote_device.hpp"

namespace cass::hip {
namespace {

constexpr int failed_status = 1;

// The launches that were lost since the program last asked.
class LostLaunches {
 public:
  static LostLaunches& instance() {
    static auto& launches = *new LostLaunches;
    return launches;
  }

  void add(std::string what) {
    const std::lock_guard lock(guard_);
    if (count_++ == 0) first_ = std::move(what);
  }

  void clear() {
    const std::lock_guard lock(guard_);
    count_ = 0;
  }

  // Empty where none was lost.
  std::string description() {
    const std::lock_guard lock(guard_);
    if (count_ == 0) return {};
    const auto others =
        count_ == 1 ? "" : " (and " + std::to_string(count_ - 1) + " more launches)";
    return "a kernel was not launched: " + first_ + others +
           ", and the program did not ask: exit status 1";
  }

 private:
  std::mutex guard_;
  std::string first_;
  std::size_t count_ = 0;
};

std::atomic<const char*> failed_above{nullptr};

std::string failure() {
  if (const char* why = failed_above.load()) return std::string(why) + ": exit status 1";
  if (Device::any_has_ever_failed()) {
    return "a kernel failed and the program did not say so: exit status 1";
  }
  return LostLaunches::instance().description();
}

void end_with_failure(int status, void*) {
  const std::string found = status == 0 ? failure() : std::string();
  if (found.empty()) return;
  report(found);
  std::fflush(nullptr);
  RemoteDevice::instance().finish();
  ::_exit(failed_status);
}

// As the library is loaded: objects of the program that are destroyed after `main` come before it.
__attribute__((constructor)) void watch_exit() { ::on_exit(end_with_failure, nullptr); }

}  // namespace

void note_lost_launch(std::string what) { LostLaunches::instance().add(std::move(what)); }

void lost_launch_was_heard() { LostLaunches::instance().clear(); }

}  // namespace cass::hip

void __hipCassFailAtExit(const char* why) { cass::hip::failed_above = why; }
