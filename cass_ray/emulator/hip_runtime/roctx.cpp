// AMD's marks and ranges for profilers (libroctx64): levels and numbers are its own.
//
// Declared here as in AMD's roctracer/roctx.h: the packages of AMD's libraries have that, and the
// runtime is built on machines that have none of them.
#include <atomic>
#include <cstdint>

#pragma GCC visibility push(default)

namespace {

thread_local int open_ranges = 0;

}  // namespace

extern "C" {

using roctx_range_id_t = uint64_t;

uint32_t roctx_version_major() { return 4; }

uint32_t roctx_version_minor() { return 1; }

void roctxMarkA(const char*) {}

int roctxRangePushA(const char*) { return open_ranges++; }

int roctxRangePop() { return open_ranges == 0 ? -1 : --open_ranges; }

roctx_range_id_t roctxRangeStartA(const char*) {
  static std::atomic<roctx_range_id_t> last{0};
  return ++last;
}

void roctxRangeStop(roctx_range_id_t) {}

}  // extern "C"

#pragma GCC visibility pop
