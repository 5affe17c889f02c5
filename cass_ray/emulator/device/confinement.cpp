#include "confinement.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace cass::device {
namespace {

constexpr long allowed[] = {
    // memory
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_madvise,
    SYS_mremap,
    SYS_brk,
    // open files and sockets
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_fcntl,
    SYS_ftruncate,
    SYS_memfd_create,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_poll,
    SYS_ppoll,
    SYS_pipe2,
    SYS_dup,
    // threads and processes of its own
    SYS_clone,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getpid,
    SYS_gettid,
    SYS_wait4,
    SYS_exit,
    SYS_exit_group,
    SYS_set_tid_address,
    SYS_prctl,
    SYS_restart_syscall,
    // signals that it gets
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    // clocks and numbers
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_prlimit64,
    SYS_sysinfo,
};

constexpr std::uint32_t low_word(unsigned argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * argument);
}

sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter answer(std::uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }
sock_filter if_equal(std::uint32_t value, unsigned yes, unsigned no) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<std::uint8_t>(yes),
                  static_cast<std::uint8_t>(no));
}
sock_filter if_any(std::uint32_t bits, unsigned yes, unsigned no) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, static_cast<std::uint8_t>(yes),
                  static_cast<std::uint8_t>(no));
}

constexpr std::uint32_t refused = SECCOMP_RET_ERRNO | EPERM;

// A false first test skips to the next block: load, test, return, return.
void forbid_bits(std::vector<sock_filter>& program, long call, unsigned argument,
                 std::uint32_t bits) {
  program.push_back(if_equal(static_cast<std::uint32_t>(call), 0, 4));
  program.push_back(load(low_word(argument)));
  program.push_back(if_any(bits, 0, 1));
  program.push_back(answer(refused));
  program.push_back(answer(SECCOMP_RET_ALLOW));
}

std::vector<sock_filter> filter() {
  constexpr std::uint32_t name_spaces = 0x7E02'0080;  // CLONE_NEW*
  std::vector<sock_filter> program = {
      load(offsetof(seccomp_data, arch)),
      if_equal(AUDIT_ARCH_X86_64, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
  };
  // The flags of clone3 cannot be read: without it the C library uses clone.
  program.push_back(if_equal(SYS_clone3, 0, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | ENOSYS));
  forbid_bits(program, SYS_mmap, 2, PROT_EXEC);
  forbid_bits(program, SYS_mprotect, 2, PROT_EXEC);
  forbid_bits(program, SYS_clone, 0, name_spaces);
  for (const long call : allowed) {
    program.push_back(if_equal(static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  }
  program.push_back(answer(refused));
  return program;
}

bool limit(int resource, std::uint64_t value) {
  const rlimit bounds{value, value};
  return ::setrlimit(static_cast<__rlimit_resource>(resource), &bounds) == 0;
}

}  // namespace

bool confine(std::uint64_t cpu_seconds) {
  if (!limit(RLIMIT_CORE, 0)) return false;
  if (cpu_seconds != 0 && !limit(RLIMIT_CPU, cpu_seconds)) return false;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  auto instructions = filter();
  const sock_fprog program{static_cast<unsigned short>(instructions.size()), instructions.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace cass::device
