// The eight cases of speed.py: sizes, inputs and what is printed are the same on both sides.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>
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

inline float value_at(int i) { return static_cast<float>((i * 2654435761u >> 8) & 0xFFFF) / 65536.0F; }

// Seconds on the wall's clock; CPU seconds of all threads where SPEED_CLOCK is set, for machines that
// do other work too.
inline double now() {
  static const clockid_t clock =
      std::getenv("SPEED_CLOCK") != nullptr ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
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
