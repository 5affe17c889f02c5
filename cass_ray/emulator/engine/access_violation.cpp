#include "access_violation.hpp"

#include <signal.h>

#include <cstdlib>
#include <mutex>

namespace cass::amdgpu {
namespace {

thread_local sigjmp_buf* active_recovery = nullptr;
thread_local std::uint64_t violation_address = 0;

struct sigaction previous_segv;
struct sigaction previous_bus;

void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& previous = number == SIGBUS ? previous_bus : previous_segv;
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  } else {
    // Back to the default: returning repeats the access and ends the process.
    signal(number, SIG_DFL);
  }
}

[[noreturn]] void recover(std::uint64_t address) {
  violation_address = address;
  sigjmp_buf* recovery = active_recovery;
  active_recovery = nullptr;
  siglongjmp(*recovery, 1);
}

void on_violation(int number, siginfo_t* info, void* context) {
  if (active_recovery == nullptr) {
    pass_on(number, info, context);
    return;
  }
  recover(reinterpret_cast<std::uint64_t>(info->si_addr));
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = on_violation;
  // Not deferred: leaving by siglongjmp would otherwise keep the signal blocked.
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_segv);
  sigaction(SIGBUS, &action, &previous_bus);
}

}  // namespace

AccessGuard::AccessGuard(sigjmp_buf* recovery) {
  static std::once_flag installed;
  std::call_once(installed, install);
  active_recovery = recovery;
}

AccessGuard::~AccessGuard() { active_recovery = nullptr; }

void raise_access_violation(std::uint64_t address) {
  if (active_recovery == nullptr) std::abort();
  recover(address);
}

std::uint64_t AccessGuard::address() const { return violation_address; }

}  // namespace cass::amdgpu
