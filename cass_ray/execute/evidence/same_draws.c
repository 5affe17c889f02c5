// Preloaded into a program's process: what programs draw random numbers from follows from the seed
// in CASS_DRAWS: the time of day at which clocks start (its upper half), and what the kernel, the C
// library and std::random_device call random.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { nanoseconds = 1000000000, clocks = 16, source_bytes = 4 << 20 };

static uint64_t mix(uint64_t z) {  // SplitMix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Other libraries may ask for the time before `hide` runs.
static uint64_t seed(void) {
  static uint64_t value_of_seed;
  const char* text = value_of_seed == 0 ? getenv("CASS_DRAWS") : NULL;
  if (text != NULL) value_of_seed = strtoull(text, NULL, 10);
  return value_of_seed;
}

// The program sees nothing of this in its environment. What starts it has to hand it on.
__attribute__((constructor)) static void hide(int count, char** arguments) {
  if (count < 1 || strcmp(arguments[0], "/cass/program") != 0) return;
  seed();
  unsetenv("LD_PRELOAD");
  unsetenv("CASS_DRAWS");
}

static uint64_t next_number(void) {
  static uint64_t steps;
  const uint64_t step = __atomic_add_fetch(&steps, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
  return mix(seed() + step);
}

static void fill(void* target, size_t bytes) {
  for (unsigned char* next = target; bytes > 0;) {
    const uint64_t value = next_number();
    const size_t part = bytes < sizeof value ? bytes : sizeof value;
    memcpy(next, &value, part);
    next += part;
    bytes -= part;
  }
}

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

static int real_clock(clockid_t clock, struct timespec* time) {
  static int (*function)(clockid_t, struct timespec*);
  if (function == NULL) *(void**)&function = next("clock_gettime");
  return function(clock, time);
}

static int gives_seeds(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ||
         clock == CLOCK_PROCESS_CPUTIME_ID;
}

// The first reading follows from the seed; from there on time passes, as programs measure it.
// Clocks that count from the start of the machine are as ever.
int clock_gettime(clockid_t clock, struct timespec* time) {
  static struct timespec first[clocks];
  const int result = real_clock(clock, time);
  if (result != 0 || clock < 0 || clock >= clocks || !gives_seeds(clock)) return result;
  if (first[clock].tv_sec == 0 && first[clock].tv_nsec == 0) first[clock] = *time;
  long long passed = (long long)(time->tv_sec - first[clock].tv_sec) * nanoseconds +
                     (time->tv_nsec - first[clock].tv_nsec);
  time_t start = 0;
  if (clock != CLOCK_PROCESS_CPUTIME_ID) {
    start = (time_t)(seed() >> 32);
    passed += (long long)(mix(seed() + 1) % 900000000);
  }
  time->tv_sec = start + passed / nanoseconds;
  time->tv_nsec = passed % nanoseconds;
  return 0;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

int timespec_get(struct timespec* time, int base) {
  return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

time_t time(time_t* place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place != NULL) *place = now.tv_sec;
  return now.tv_sec;
}

clock_t clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (clock_t)(now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (nanoseconds / CLOCKS_PER_SEC));
}

// The deadline was made from the clock above.
int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict deadline) {
  static int (*function)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*);
  if (function == NULL) *(void**)&function = next("pthread_cond_timedwait");
  struct timespec real, seen;
  real_clock(CLOCK_REALTIME, &real);
  clock_gettime(CLOCK_REALTIME, &seen);
  long long wait = (long long)(deadline->tv_sec - seen.tv_sec) * nanoseconds +
                   (deadline->tv_nsec - seen.tv_nsec) + real.tv_nsec;
  if (wait < 0) wait = 0;
  const struct timespec until = {real.tv_sec + wait / nanoseconds, wait % nanoseconds};
  return function(condition, mutex, &until);
}

// In its name space the number of a program's process is always the same.
pid_t getpid(void) { return (pid_t)syscall(SYS_getpid); }

pid_t getppid(void) { return (pid_t)syscall(SYS_getppid); }

ssize_t getrandom(void* target, size_t bytes, unsigned flags) {
  (void)flags;
  fill(target, bytes);
  return (ssize_t)bytes;
}

int getentropy(void* target, size_t bytes) {
  fill(target, bytes);
  return 0;
}

uint32_t arc4random(void) { return (uint32_t)next_number(); }

uint32_t arc4random_uniform(uint32_t bound) {
  return bound < 2 ? 0 : (uint32_t)next_number() % bound;
}

void arc4random_buf(void* target, size_t bytes) { fill(target, bytes); }

// std::random_device::_M_getval() and _M_getval_pretr1(): they execute RDRAND otherwise.
unsigned _ZNSt13random_device9_M_getvalEv(void* self) {
  (void)self;
  return (unsigned)next_number();
}

unsigned _ZNSt13random_device16_M_getval_pretr1Ev(void* self) {
  return _ZNSt13random_device9_M_getvalEv(self);
}

static int is_random(const char* path) {
  return strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0;
}

// A file of drawn bytes, at its start; -1 where there can be none.
static int random_file(void) {
  const int file = memfd_create("random", MFD_CLOEXEC);
  if (file < 0) return file;
  static unsigned char bytes[1 << 16];
  for (int written = 0; written < source_bytes; written += (int)sizeof bytes) {
    fill(bytes, sizeof bytes);
    if (write(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes) break;
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

#define OPENING(name)                                          \
  int name(const char* path, int flags, ...) {                 \
    static int (*function)(const char*, int, ...);             \
    if (function == NULL) *(void**)&function = next(#name);    \
    va_list rest;                                              \
    va_start(rest, flags);                                     \
    const int has_mode = (flags & (O_CREAT | O_TMPFILE)) != 0; \
    const mode_t mode = has_mode ? va_arg(rest, mode_t) : 0;   \
    va_end(rest);                                              \
    const int file = is_random(path) ? random_file() : -1;     \
    return file >= 0 ? file : function(path, flags, mode);     \
  }
OPENING(open)
OPENING(open64)

#define OPENING_A_STREAM(name)                                      \
  FILE* name(const char* restrict path, const char* restrict how) { \
    static FILE* (*function)(const char*, const char*);             \
    if (function == NULL) *(void**)&function = next(#name);         \
    const int file = is_random(path) ? random_file() : -1;          \
    return file >= 0 ? fdopen(file, how) : function(path, how);     \
  }
OPENING_A_STREAM(fopen)
OPENING_A_STREAM(fopen64)
