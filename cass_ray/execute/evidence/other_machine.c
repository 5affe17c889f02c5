// Preloaded into a program's process: clocks that run at another speed from another start, and
// other process numbers. All follow from the host's name, which is another one in each run.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { nanoseconds = 1000000000 };

// FNV-1a.
static unsigned machine(void) {
  static unsigned hash;
  if (hash != 0) return hash;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  hash = 2166136261u;
  for (const char* letter = name; *letter != 0; letter++)
    hash = (hash ^ (unsigned char)*letter) * 16777619u;
  return hash |= 1;
}

// At least five times: what is 0.1 s when rounded is more there.
static int speed(void) { return 5 + (int)(machine() % 4); }

// Each reading is later by this: what takes 0.000 s elsewhere takes a time there.
static long long step(void) { return (11 + (int)(machine() % 7)) * 1000000LL; }

static time_t later(void) { return 1000003 + (time_t)(machine() % 40000000); }  // seconds

typedef int (*clock_function)(clockid_t, struct timespec*);

static int real_clock(clockid_t clock, struct timespec* time) {
  static clock_function function;
  if (function == NULL) function = (clock_function)dlsym(RTLD_NEXT, "clock_gettime");
  return function(clock, time);
}

static int is_wall_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  static struct timespec first[16];
  static _Atomic long long readings[16];
  const int result = real_clock(clock, time);
  if (result != 0 || clock < 0 || clock >= 16) return result;
  if (first[clock].tv_sec == 0 && first[clock].tv_nsec == 0) first[clock] = *time;
  long long passed = (long long)(time->tv_sec - first[clock].tv_sec) * nanoseconds +
                     (time->tv_nsec - first[clock].tv_nsec);
  passed = passed * speed() + readings[clock]++ * step() + first[clock].tv_nsec;
  time->tv_sec = first[clock].tv_sec + (time_t)(passed / nanoseconds);
  if (is_wall_clock(clock)) time->tv_sec += later();
  time->tv_nsec = (long)(passed % nanoseconds);
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

pid_t getpid(void) { return 300 + (pid_t)(machine() % 30000); }

pid_t getppid(void) { return getpid() - 1 - (pid_t)(machine() % 97); }
