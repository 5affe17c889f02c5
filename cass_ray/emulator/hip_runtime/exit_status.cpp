#include "exit_status.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "device.hpp"
#include "errors.hpp"
#include "remote_device.hpp"

namespace cass::hip {
namespace {

constexpr int failed_status = 1;

std::atomic<bool> launch_was_lost = false;

const char* failure() {
  if (Device::any_has_ever_failed()) {
    return "a kernel failed and the program did not say so: exit status 1";
  }
  if (launch_was_lost) {
    return "a kernel was not launched, for want of code for its device, and the program did not "
           "ask: exit status 1";
  }
  return nullptr;
}

void end_with_failure(int status, void*) {
  const char* found = status == 0 ? failure() : nullptr;
  if (found == nullptr) return;
  report(found);
  std::fflush(nullptr);
  RemoteDevice::instance().finish();
  ::_exit(failed_status);
}

}  // namespace

void note_lost_launch() { launch_was_lost = true; }

void lost_launch_was_heard() { launch_was_lost = false; }

void watch_exit() {
  static std::once_flag once;
  std::call_once(once, [] { ::on_exit(end_with_failure, nullptr); });
}

}  // namespace cass::hip
