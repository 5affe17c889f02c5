// The eight cases of speed.py: sizes, inputs and what is printed are the same on both sides.
#pragma once

#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

constexpr int repetitions = 7;

constexpr int add_size = 1 << 20;
constexpr int matrix_size = 512;
constexpr int reduce_size = 1 << 22;
constexpr int histogram_size = 1 << 20, bins = 256;
constexpr int bodies = 4096;
constexpr int options = 1 << 18;
constexpr int mandelbrot_width = 1024, mandelbrot_height = 512, mandelbrot_limit = 200;
constexpr int scan_size = 1 << 20, scan_block = 256;

inline float value_at(int i) {
  return static_cast<float>((i * 2654435761u >> 8) & 0xFFFF) / 65536.0F;
}

inline double seconds_of(clockid_t clock) {
  timespec time;
  return clock_gettime(clock, &time) != 0
             ? 0.0
             : static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The device's process detaches itself from the one that starts it; so it becomes a child again.
inline const int adopts = prctl(PR_SET_CHILD_SUBREAPER, 1);

// CPU seconds of all threads of a process and of those that descend from it: the device is one.
inline double cpu_seconds(int process) {
  clockid_t clock;
  double sum = clock_getcpuclockid(process, &clock) == 0 ? seconds_of(clock) : 0;
  const std::string id = std::to_string(process);
  const std::string path = "/proc/" + id + "/task/" + id + "/children";
  if (std::FILE* list = std::fopen(path.c_str(), "r")) {
    for (int child; std::fscanf(list, "%d", &child) == 1;) sum += cpu_seconds(child);
    std::fclose(list);
  }
  return sum;
}

// Seconds on the wall's clock; CPU seconds where SPEED_CLOCK is set, for machines that do other
// work too.
inline double now() {
  static const bool cpu = std::getenv("SPEED_CLOCK") != nullptr;
  return cpu ? cpu_seconds(getpid()) : seconds_of(CLOCK_MONOTONIC);
}

// The best of several runs: seconds and a number that depends on the result.
template <class Run, class Result>
void measure(const char* name, Run run, Result result) {
  run();
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const double started = now();
    run();
    const double taken = now() - started;
    if (taken < best) best = taken;
  }
  std::printf("%s %.9f %.6g\n", name, best, static_cast<double>(result()));
}
