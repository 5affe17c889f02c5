// Turns SIGSEGV and SIGBUS of a wave's memory access into a return to its workgroup.
#pragma once

#include <setjmp.h>

#include <cstdint>

namespace cass::amdgpu {

// While one lives, an access violation of this thread jumps to `recovery`; other violations go to
// the handler that was installed before.
class AccessGuard {
 public:
  explicit AccessGuard(sigjmp_buf* recovery);
  ~AccessGuard();
  AccessGuard(const AccessGuard&) = delete;
  AccessGuard& operator=(const AccessGuard&) = delete;
  std::uint64_t address() const;  // of the last violation
};

// What an access of this thread to `address` does where the CPU refuses it. An AccessGuard lives.
[[noreturn]] void raise_access_violation(std::uint64_t address);

}  // namespace cass::amdgpu
