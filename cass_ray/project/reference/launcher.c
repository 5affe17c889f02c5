// Stands in a program's place while a project's tests run: starts the program, which lies beside it
// under a hidden name, passes on what it prints and keeps a copy.
//
// CASS_RECORD names the folder of the records. Each run has a folder there, by start and process:
//   program    the path of the program         arguments  the others, each ended by a NUL
//   folder     where it was started            stdout     what it printed
//   status     "exit N" or "signal N"; missing where the launcher was killed
//   notes      what the CUDA runtime over HIP had to refuse (CASS_PORT_NOTES)
// Without CASS_RECORD, and where no record can be written, the program runs as if it stood here.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const size_t kept_bytes = 32u << 20;

static char self[PATH_MAX];
static char program[PATH_MAX + 8];
static char record[PATH_MAX];
static pid_t child;

static int opened(const char* name) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/%s", record, name);
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static int write_all(int file, const char* data, size_t size) {
  while (size != 0) {
    const ssize_t done = write(file, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return -1;
    data += done;
    size -= (size_t)done;
  }
  return 0;
}

static void keep(const char* name, const char* text, size_t size) {
  const int file = opened(name);
  if (file < 0) return;
  (void)write_all(file, text, size);
  close(file);
}

static int make_record(char** argv) {
  const char* root = getenv("CASS_RECORD");
  if (root == NULL || *root == '\0') return -1;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int length = snprintf(record, sizeof record, "%s/%012lld.%09ld-%d", root,
                              (long long)now.tv_sec, now.tv_nsec, (int)getpid());
  if (length < 0 || (size_t)length >= sizeof record || mkdir(record, 0700) != 0) return -1;
  keep("program", self, strlen(self));
  char here[PATH_MAX];
  if (getcwd(here, sizeof here) != NULL) keep("folder", here, strlen(here));
  const int file = opened("arguments");
  if (file < 0) return -1;
  for (char** argument = argv + 1; *argument != NULL; ++argument) {
    (void)write_all(file, *argument, strlen(*argument) + 1);
  }
  close(file);
  return 0;
}

static void pass_on(int number) { kill(child, number); }

static void start(char** argv) {
  execv(program, argv);
  fprintf(stderr, "%s: %s\n", program, strerror(errno));
  _exit(127);
}

// Until the program and those that it started close their output.
static void copy_output(int from) {
  static char buffer[1 << 16];
  const int file = opened("stdout");
  size_t kept = 0;
  for (;;) {
    const ssize_t size = read(from, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    // Who reads us has gone: SIGPIPE ends us as it would the program.
    if (write_all(STDOUT_FILENO, buffer, (size_t)size) != 0) break;
    // One byte more than is compared tells that there was more.
    const size_t room = kept_bytes + 1 - kept;
    const size_t part = (size_t)size < room ? (size_t)size : room;
    if (file >= 0 && write_all(file, buffer, part) == 0) kept += part;
  }
  if (file >= 0) close(file);
}

int main(int argc, char** argv) {
  (void)argc;
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  char* name = length > 0 ? strrchr(self, '/') : NULL;
  if (name == NULL) return 127;
  snprintf(program, sizeof program, "%.*s/.%s.cass", (int)(name - self), self, name + 1);
  int ends[2];
  if (make_record(argv) != 0 || pipe2(ends, O_CLOEXEC) != 0) start(argv);
  const pid_t parent = getpid();
  child = fork();
  if (child < 0) start(argv);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(ends[1], STDOUT_FILENO);
    char notes[PATH_MAX + 16];
    snprintf(notes, sizeof notes, "%s/notes", record);
    setenv("CASS_PORT_NOTES", notes, 1);
    start(argv);
  }
  signal(SIGTERM, pass_on);
  signal(SIGINT, pass_on);
  signal(SIGHUP, pass_on);
  close(ends[1]);
  copy_output(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  char text[32];
  const int is_signal = WIFSIGNALED(status);
  const int number = is_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  snprintf(text, sizeof text, "%s %d", is_signal ? "signal" : "exit", number);
  keep("status", text, strlen(text));
  if (is_signal) {
    prctl(PR_SET_DUMPABLE, 0);
    signal(number, SIG_DFL);
    raise(number);
  }
  return is_signal ? 128 + number : number;
}
