/* Preloaded into a tool: its libraries are loaded and relocated once, main runs once for each job.
 *
 * In the place of main it takes lines from stdin: "run ID FOLDER CPU_SECONDS ADDRESS_SPACE_BYTES
 * FILE_BYTES OPEN_FILES" forks a child that goes to FOLDER, takes its arguments from the file
 * ".arguments" (each ends with a zero byte), writes to ".stdout" and ".stderr", and calls main;
 * "kill ID" ends it. When a child has ended the answer on stdout is "ID STATUS MICROSECONDS
 * KILOBYTES": wait status (-1: it was never begun), CPU time, largest resident size. The first
 * answer, of ID 0, says that the tool is there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"

#define MOST_CHILDREN 128

typedef int (*main_function)(int, char **, char **);

static main_function tool_main;

static struct {
  pid_t process;
  long id;
} children[MOST_CHILDREN];

static void answer(long id, int status, const struct rusage *usage) {
  long microseconds = (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000L +
                      usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
  dprintf(STDOUT_FILENO, "%ld %d %ld %ld\n", id, status, microseconds, usage->ru_maxrss);
}

static void limit(int resource, unsigned long soft, unsigned long hard) {
  struct rlimit bound = {soft, hard};
  if (setrlimit(resource, &bound) != 0) _exit(START_FAILURE);
}

/* The file as `descriptor`; its name goes. */
static void open_as(const char *name, int flags, int descriptor) {
  int file = open(name, flags | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(START_FAILURE);
  close(file);
  if (name[0] == '.') unlink(name);
}

/* The arguments in stdin, which is a file; a null pointer ends them. */
static char **arguments(int *count) {
  struct stat status;
  if (fstat(STDIN_FILENO, &status) != 0) _exit(START_FAILURE);
  size_t size = (size_t)status.st_size;
  char *text = malloc(size + 1);
  if (!text || read(STDIN_FILENO, text, size) != (ssize_t)size) _exit(START_FAILURE);
  text[size] = 0;
  *count = 0;
  for (size_t at = 0; at < size; at += strlen(text + at) + 1) ++*count;
  char **list = calloc((size_t)*count + 1, sizeof *list);
  if (!list || *count == 0) _exit(START_FAILURE);
  char *next = text;
  for (int number = 0; number < *count; ++number, next += strlen(next) + 1) list[number] = next;
  return list;
}

struct job {
  long id;
  char folder[LINE];
  unsigned long cpu, memory, file_bytes, files;
};

/* In the child: the tool as it would have been started for this job. */
static int run(const struct job *job, const sigset_t *signals) {
  int count;
  if (chdir(job->folder) != 0) _exit(START_FAILURE);
  open_as(".arguments", O_RDONLY, STDIN_FILENO);
  open_as(".stdout", O_WRONLY | O_TRUNC, STDOUT_FILENO);
  open_as(".stderr", O_WRONLY | O_TRUNC, STDERR_FILENO);
  char **list = arguments(&count);
  open_as("/dev/null", O_RDONLY, STDIN_FILENO);
  limit(RLIMIT_CPU, job->cpu, job->cpu + 1);
  limit(RLIMIT_AS, job->memory, job->memory);
  limit(RLIMIT_FSIZE, job->file_bytes, job->file_bytes);
  limit(RLIMIT_NOFILE, job->files, job->files);
  confine();
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_SETMASK, signals, NULL);
  return tool_main(count, list, environ);
}

static int place_of(long id) {
  for (int place = 0; place < MOST_CHILDREN; ++place)
    if (children[place].process && children[place].id == id) return place;
  return -1;
}

static int free_place(void) {
  for (int place = 0; place < MOST_CHILDREN; ++place)
    if (!children[place].process) return place;
  return -1;
}

static void reap(void) {
  int status;
  struct rusage usage;
  for (pid_t ended; (ended = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    for (int place = 0; place < MOST_CHILDREN; ++place) {
      if (children[place].process != ended) continue;
      children[place].process = 0;
      answer(children[place].id, status, &usage);
    }
  }
}

/* What a line asks for. Returns only in the parent; a child ends as the tool does. */
static void obey(char *line, const sigset_t *signals) {
  struct job job;
  struct rusage none = {0};
  if (sscanf(line, "kill %ld", &job.id) == 1) {
    int place = place_of(job.id);
    if (place >= 0) kill(children[place].process, SIGKILL);
    return;
  }
  if (sscanf(line, "run %ld %4095s %lu %lu %lu %lu", &job.id, job.folder, &job.cpu, &job.memory,
             &job.file_bytes, &job.files) != 6)
    _exit(START_FAILURE);
  int place = free_place();
  pid_t child = place < 0 ? -1 : fork();
  if (child == 0) exit(run(&job, signals));
  if (child < 0) {
    answer(job.id, -1, &none);
    return;
  }
  children[place].process = child;
  children[place].id = job.id;
}

static void wake(int signal_number) { (void)signal_number; }

static int serve(void) {
  static char text[LINE + 1];
  size_t held = 0;
  sigset_t blocked, signals;
  struct rusage usage = {0};
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, &signals);
  signal(SIGCHLD, wake);
  getrusage(RUSAGE_SELF, &usage);
  answer(0, 0, &usage);
  for (;;) {
    fd_set input;
    FD_ZERO(&input);
    FD_SET(STDIN_FILENO, &input);
    int ready = pselect(1, &input, NULL, NULL, NULL, &signals);
    reap();
    if (ready <= 0) continue;
    ssize_t count = read(STDIN_FILENO, text + held, LINE - held);
    if (count <= 0) _exit(count == 0 ? 0 : START_FAILURE);
    held += (size_t)count;
    text[held] = 0;
    for (char *end; (end = strchr(text, '\n')) != NULL;) {
      *end = 0;
      obey(text, &signals);
      held -= (size_t)(end + 1 - text);
      memmove(text, end + 1, held + 1);
    }
    if (held == LINE) _exit(START_FAILURE);
  }
}

static int stand_in(int count, char **list, char **environment) {
  (void)count, (void)list, (void)environment;
  unsetenv("LD_PRELOAD");
  return serve();
}

int __libc_start_main(main_function program, int count, char **list, void (*initialize)(void),
                      void (*finish)(void), void (*unload)(void), void *stack) {
  int (*next)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  tool_main = program;
  return next(stand_in, count, list, initialize, finish, unload, stack);
}
