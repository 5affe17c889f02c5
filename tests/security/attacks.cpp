// Attacks by a program under test. `attacks --list` prints their names; `attacks NAME` runs one and
// prints GOT THROUGH where it succeeds. BEGIN comes first, so that an attack that never ran is told
// from one that was held.
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

static void got_through() {
  printf("GOT THROUGH\n");
  fflush(stdout);
}
static bool writes(const char* path, const char* text) {
  int file = open(path, O_WRONLY | O_TRUNC);
  bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
  if (file >= 0) close(file);
  return written;
}
static bool reads(const char* path) {
  char text[16];
  int file = open(path, O_RDONLY);
  bool got = file >= 0 && read(file, text, sizeof text) > 0;
  if (file >= 0) close(file);
  return got;
}
static bool makes(const char* path) {
  int file = open(path, O_WRONLY | O_CREAT, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

struct Attack {
  const char* name;
  void (*run)();
};

static const Attack attacks[] = {
    {"write kernel.core_pattern",
     [] {
       if (writes("/proc/sys/kernel/core_pattern", "core")) got_through();
     }},
    {"write kernel.panic",
     [] {
       if (writes("/proc/sys/kernel/panic", "0")) got_through();
     }},
    {"write kernel.modprobe",
     [] {
       if (writes("/proc/sys/kernel/modprobe", "/x")) got_through();
     }},
    {"write vm.overcommit_memory",
     [] {
       if (writes("/proc/sys/vm/overcommit_memory", "1")) got_through();
     }},
    {"write /proc/sysrq-trigger",
     [] {
       if (writes("/proc/sysrq-trigger", "h")) got_through();
     }},
    {"write /sys",
     [] {
       if (makes("/sys/x") || reads("/sys/kernel/uevent_seqnum")) got_through();
     }},
    {"write a control group",
     [] {
       if (makes("/sys/fs/cgroup/x") || !mkdir("/sys/fs/cgroup/x", 0700)) got_through();
     }},
    {"read /etc/shadow",
     [] {
       if (reads("/etc/shadow")) got_through();
     }},
    {"read /etc/passwd",
     [] {
       if (reads("/etc/passwd")) got_through();
     }},
    {"read the home folder",
     [] {
       if (reads("/root/.bashrc") || reads("/home")) got_through();
     }},
    {"read /proc/kcore",
     [] {
       if (reads("/proc/kcore")) got_through();
     }},
    {"read the environment of process 1's parent",
     [] {
       if (getppid() > 2 && reads(("/proc/" + std::to_string(getppid()) + "/environ").c_str()))
         got_through();
     }},
    {"see processes of the host",
     [] {
       int seen = 0;
       for (int pid = 1; pid < 5000; ++pid) seen += !kill(pid, 0);
       if (seen > 8) got_through();
     }},
    {"write to /usr",
     [] {
       if (makes("/usr/bin/x") || makes("/usr/x")) got_through();
     }},
    {"write to /",
     [] {
       if (makes("/x") || !mkdir("/y", 0700)) got_through();
     }},
    {"write to /dev",
     [] {
       if (makes("/dev/x")) got_through();
     }},
    {"overwrite the program itself",
     [] {
       char self[4096];
       ssize_t n = readlink("/proc/self/exe", self, 4095);
       if (n > 0) {
         self[n] = 0;
         if (writes(self, "x") || !unlink(self)) got_through();
       }
     }},
    {"a device node",
     [] {
       if (!mknod("/cass/work/sda", S_IFBLK | 0600, 8 << 8) && reads("/cass/work/sda"))
         got_through();
     }},
    {"a set-user-id file",
     [] {
       int f = open("/cass/work/s", O_CREAT | O_WRONLY, 0700);
       fchown(f, 0, 0);
       if (!fchmod(f, 04755)) {
         struct stat s;
         fstat(f, &s);
         if (s.st_uid == 0) got_through();
       }
     }},
    {"leave by open descriptors",
     [] {
       for (int fd = 3; fd < 64; ++fd) {
         struct stat s;
         if (!fstat(fd, &s) && S_ISDIR(s.st_mode)) {
           if (openat(fd, "..", O_RDONLY) >= 0) got_through();
         }
       }
     }},
    {"hard link to a system file",
     [] {
       if (!link("/usr/bin/env", "/cass/work/env")) got_through();
     }},
    {"become root",
     [] {
       if (!setuid(0) && getuid() == 0) got_through();
     }},
    {"a new user name space",
     [] {
       if (!unshare(CLONE_NEWUSER)) got_through();
     }},
    {"a new mount name space",
     [] {
       if (!unshare(CLONE_NEWNS)) got_through();
     }},
    {"clone with a user name space",
     [] {
       if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0) got_through();
     }},
    {"clone3",
     [] {
       struct {
         unsigned long f[11];
       } a{};
       a.f[0] = CLONE_NEWUSER;
       if (syscall(435, &a, sizeof a) >= 0) got_through();
     }},
    {"mount a tmpfs",
     [] {
       if (!mount("x", "/cass/work", "tmpfs", 0, "")) got_through();
     }},
    {"remount / writable",
     [] {
       if (!mount("", "/", "", MS_REMOUNT | MS_BIND, "")) got_through();
     }},
    {"unmount /proc",
     [] {
       if (!umount("/proc")) got_through();
     }},
    {"chroot",
     [] {
       if (!chroot("/cass/work")) got_through();
     }},
    {"pivot_root",
     [] {
       if (!syscall(SYS_pivot_root, "/cass/work", "/cass/work")) got_through();
     }},
    {"the new mount interface",
     [] {
       if (syscall(430, "tmpfs", 0) >= 0) got_through();
     }},
    {"open_tree",
     [] {
       if (syscall(428, -100, "/", 1) >= 0) got_through();
     }},
    {"trace another process",
     [] {
       if (!ptrace(PTRACE_ATTACH, 1, 0, 0)) got_through();
     }},
    {"trace a child",
     [] {
       if (!fork()) {
         if (!ptrace(PTRACE_TRACEME, 0, 0, 0)) got_through();
         _exit(0);
       }
       wait(0);
     }},
    {"read another process's memory",
     [] {
       char c;
       struct {
         void* b;
         size_t n;
       } l{&c, 1}, r{(void*)0x400000, 1};
       if (syscall(310, 1, &l, 1, &r, 1, 0) > 0) got_through();
     }},
    {"an eBPF program",
     [] {
       char a[128]{};
       if (syscall(321, 0, a, sizeof a) >= 0) got_through();
     }},
    {"io_uring",
     [] {
       char p[120]{};
       if (syscall(425, 4, p) >= 0) got_through();
     }},
    {"userfaultfd",
     [] {
       if (syscall(323, 0) >= 0) got_through();
     }},
    {"perf events",
     [] {
       char a[128]{};
       a[4] = 112;
       if (syscall(298, a, 0, -1, -1, 0) >= 0) got_through();
     }},
    {"the kernel's keyring",
     [] {
       if (syscall(250, 0, -3, 1) >= 0) got_through();
     }},
    {"add a key",
     [] {
       if (syscall(248, "user", "x", "y", 1, -3) >= 0) got_through();
     }},
    {"load a module",
     [] {
       if (!syscall(175, "x", 1, "")) got_through();
     }},
    {"set the clock",
     [] {
       timespec t{0, 0};
       if (!clock_settime(CLOCK_REALTIME, &t)) got_through();
     }},
    {"set the host name",
     [] {
       if (!sethostname("x", 1)) got_through();
     }},
    {"open by handle",
     [] {
       char h[144]{};
       h[0] = 8;
       if (syscall(304, -100, h, 0) >= 0) got_through();
     }},
    {"raw io ports",
     [] {
       if (!syscall(172, 3)) got_through();
     }},
    {"a 32-bit system call",
     [] {
       long r = -1;
       asm volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");
       if (r > 0) got_through();
     }},
    {"an x32 system call",
     [] {
       if (syscall(0x40000000 | 39) > 0) got_through();
     }},
    {"input for the terminal",
     [] {
       if (!ioctl(0, 0x5412, "x") || !ioctl(2, 0x5412, "x")) got_through();
     }},
    {"an internet socket",
     [] {
       if (socket(AF_INET, SOCK_STREAM, 0) >= 0) got_through();
     }},
    {"an IPv6 socket",
     [] {
       if (socket(AF_INET6, SOCK_DGRAM, 0) >= 0) got_through();
     }},
    {"a raw socket",
     [] {
       if (socket(AF_PACKET, SOCK_RAW, 0) >= 0) got_through();
     }},
    {"a netlink socket",
     [] {
       if (socket(AF_NETLINK, SOCK_RAW, 0) >= 0) got_through();
     }},
    {"a virtual machine's socket",
     [] {
       if (socket(40, SOCK_STREAM, 0) >= 0) got_through();
     }},
    {"a gigabyte of memory",
     [] {
       for (int i = 0; i < 1024; ++i) {
         char* p = (char*)malloc(1 << 20);
         memset(p, i + 1, 1 << 20);
       }
       got_through();
     }},
    {"a gigabyte in the program's folder",
     [] {
       std::string block(1 << 20, 1);
       for (int i = 0; i < 1024; ++i) {
         int f = open(("/cass/work/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600);
         if (write(f, block.data(), block.size()) < 0) return;
         close(f);
       }
       got_through();
     }},
    {"a gigabyte in /dev/shm",
     [] {
       std::string block(1 << 20, 1);
       for (int i = 0; i < 1024; ++i) {
         int f = open(("/dev/shm/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600);
         if (f < 0 || write(f, block.data(), block.size()) < 0) return;
         close(f);
       }
       got_through();
     }},
    {"a gigabyte in nameless files",
     [] {
       std::string block(1 << 20, 1);
       for (int i = 0; i < 1024; ++i) {
         int f = syscall(319, "x", 0);
         if (f < 0) return;
         for (int k = 0; k < 1; ++k)
           if (write(f, block.data(), block.size()) < 0) return;
       }
       got_through();
     }},
    {"a gigabyte in one nameless file",
     [] {
       std::string block(1 << 20, 1);
       int f = syscall(319, "x", 0);
       for (int i = 0; i < 1024; ++i)
         if (f < 0 || write(f, block.data(), block.size()) < 0) return;
       got_through();
     }},
    {"half a gigabyte of System V segments",
     [] {
       for (int i = 0; i < 16; ++i) {
         int s = shmget(IPC_PRIVATE, 32 << 20, IPC_CREAT | 0600);
         if (s < 0) return;
         void* p = shmat(s, 0, 0);
         memset(p, 1, 32 << 20);
         shmdt(p);
       }
       got_through();
     }},
    {"half a million files",
     [] {
       for (int i = 0; i < 500000; ++i)
         if (!makes(("/cass/work/" + std::to_string(i)).c_str())) return;
       got_through();
     }},
    {"pipes full of data",
     [] {
       long written = 0;
       std::string block(4096, 1);
       for (int i = 0; i < 400; ++i) {
         int ends[2];
         if (pipe(ends)) return;
         fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
         fcntl(ends[1], F_SETFL, O_NONBLOCK);
         for (long n; (n = write(ends[1], block.data(), block.size())) > 0;) written += n;
       }
       if (written > 256 << 20) got_through();
     }},
    {"a thousand processes",
     [] {
       int made = 0;
       for (int i = 0; i < 1000; ++i) {
         int pid = fork();
         if (pid < 0) break;
         if (!pid) {
           pause();
           _exit(0);
         }
         ++made;
       }
       if (made > 600) got_through();
     }},
    {"processes that survive",
     [] {
       if (!fork()) {
         setsid();
         if (!fork()) {
           sleep(600);
         }
         _exit(0);
       }
       wait(0);
     }},
    {"a signal to everybody",
     [] {
       signal(SIGTERM, SIG_IGN);
       kill(0, SIGTERM);
       kill(-1, SIGTERM);
       printf("STILL HERE\n");
     }},
    {"kill process 1",
     [] {
       kill(1, SIGKILL);
       usleep(10000);
       printf("STILL HERE\n");
     }},
    {"endless output",
     [] {
       std::string block(1 << 16, 'x');
       for (;;)
         if (write(1, block.data(), block.size()) < 0) return;
     }},
    {"an endless loop",
     [] {
       for (volatile int i = 0;; i = i + 1) {
       }
     }},
    {"sleeping for ever",
     [] {
       for (;;) pause();
     }},
    {"a core dump", [] { abort(); }},
};

int main(int count, char** arguments) {
  const std::string wanted = count == 2 ? arguments[1] : "";
  for (const Attack& attack : attacks) {
    if (wanted == "--list") printf("%s\n", attack.name);
    if (wanted != attack.name) continue;
    printf("BEGIN\n");
    fflush(stdout);
    attack.run();
    return 0;
  }
  return wanted == "--list" ? 0 : 2;
}
