// The device process: starts a program (or serves one that runs), and for each of its processes
// that asks at the door, forks one of its own that owns the device memory, the code and the
// counters.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "confinement.hpp"
#include "connection.hpp"
#include "evidence.hpp"
#include "messages.hpp"
#include "options.hpp"
#include "protocol.hpp"

namespace {

using namespace cass::device;

constexpr int failed_status = 125;
constexpr int signal_status = 128;  // a shell reports death by signal n as 128 + n
constexpr unsigned max_connections = 8;  // at a time

// Beyond the numbers that shells between us and the program use themselves.
constexpr int first_door_number = 100;

int fail(const std::string& message) {
  std::fprintf(stderr, "cass-device: %s\n", message.c_str());
  return failed_status;
}

[[noreturn]] void become_program(char* const* command, int door) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int inherited = ::fcntl(door, F_DUPFD, first_door_number);
  ::setenv(door_variable, std::to_string(inherited).c_str(), 1);
  ::execvp(command[0], command);
  ::_exit(fail(std::string(command[0]) + ": " + std::strerror(errno)));
}

// Nobody waits for what this process prints, or finds a pipe open because of it.
void leave_standard_files() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nothing >= 0) ::dup2(nothing, standard);
  }
}

// SIGCHLD writes a byte here.
int child_ended[2];

void note_child(int) {
  const int kept = errno;
  [[maybe_unused]] const auto written = ::write(child_ended[1], "", 1);
  errno = kept;
}

class Broker {
 public:
  Broker(const Options& options, Evidence& evidence, File door, pid_t program)
      : options_(options), evidence_(evidence), door_(std::move(door)), program_(program) {}

  // Until the program has ended, or nobody is left who could ask; its exit status.
  int run() {
    int end[2];
    if (::pipe2(end, O_CLOEXEC) != 0) return failed_status;
    end_ = end[0];
    end_of_end_ = end[1];
    bool open = true;
    while (program_ > 0 || (program_ < 0 && (open || connections_ != 0))) {
      std::array<pollfd, 2> watched{
          {{child_ended[0], POLLIN, 0},
           {open && connections_ < max_connections ? door_.number() : -1, POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[0].revents != 0) reap(WNOHANG);
      if (watched[1].revents != 0 && !accept()) open = false;
    }
    door_ = {};
    ::close(end_of_end_);  // connections end
    while (connections_ != 0 && reap(0)) {
    }
    return status_;
  }

 private:
  // Reads one asking; false once all who could ask are gone.
  bool accept() {
    std::array<std::byte, 16> message;
    auto received = receive_message(door_.number(), message);
    if (!received) return false;
    if (!received->file) return true;
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGCHLD, SIG_DFL);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(end_of_end_);
      door_ = {};
      serve_connection(options_, evidence_, std::move(received->file), end_);
    }
    connections_ += child > 0;
    return true;
  }

  // Takes note of children that have ended; false where there is none at all.
  bool reap(int how) {
    char bytes[64];
    if (how == WNOHANG) [[maybe_unused]]
      const auto count = ::read(child_ended[0], bytes, 64);
    for (;;) {
      int status = 0;
      const pid_t child = ::waitpid(-1, &status, how);
      if (child < 0 && errno == EINTR) continue;
      if (child < 0) return false;
      if (child == 0) return true;
      if (child != program_) {
        --connections_;
        if (how == 0) return true;
        continue;
      }
      program_ = 0;
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : signal_status + WTERMSIG(status);
    }
  }

  const Options& options_;
  Evidence& evidence_;
  File door_;
  pid_t program_;  // -1: one that is not ours; 0: it has ended
  unsigned connections_ = 0;
  int end_ = -1;
  int end_of_end_ = -1;
  int status_ = 0;
};

// A program that is not our child does not wait for us, and finds no child of ours among its own.
bool leave_parent() {
  const pid_t child = ::fork();
  if (child > 0) ::_exit(0);
  return child == 0 && ::setsid() >= 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::string problem;
  const auto options = read_options(count, arguments, problem);
  if (!options) return fail(problem);
  for (const int file : {options->launches, options->counters}) {
    if (file >= 0) ::fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  ::signal(SIGPIPE, SIG_IGN);
  if (::pipe2(child_ended, O_CLOEXEC | O_NONBLOCK) != 0) return fail(std::strerror(errno));
  Evidence evidence(options->launches, options->counters);
  File door(options->door);
  pid_t program = -1;
  if (!options->program.empty()) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing outlives its supervisor
    auto ends = socket_pair();
    if (!ends) return fail(std::strerror(errno));
    door = std::move(ends->ours);
    program = ::fork();
    if (program < 0) return fail(std::strerror(errno));
    if (program == 0) {
      ::signal(SIGPIPE, SIG_DFL);
      become_program(options->program.data(), ends->theirs.number());
    }
  } else if (!leave_parent()) {
    return fail(std::strerror(errno));
  }
  ::signal(SIGCHLD, note_child);
  note_child(0);  // it may have ended already
  leave_standard_files();
  if (!confine(options->cpu_seconds)) return failed_status;
  return Broker(*options, evidence, std::move(door), program).run();
}
