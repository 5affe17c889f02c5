// How this process runs kernels: set once, before the first launch.
#pragma once

#include <cstdint>

namespace cass::amdgpu {

struct Settings {
  bool check = false;              // the checking mode
  bool count = false;              // dynamic counters
  bool interleave = false;  // waves of a workgroup take turns at loops and where they wait
  unsigned threads = 0;  // 0: as many as the process may use
  double time_limit_seconds = 0;  // of a kernel; 0: none
};

const Settings& settings();
void configure(const Settings& wanted);

}  // namespace cass::amdgpu
