// The cards that the runtime can present, and which ones it does.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace cass::hip {

struct DeviceKind {
  std::string_view processor;     // "gfx942"
  std::string_view architecture;  // gcnArchName: with the settings that code objects may ask for
  std::string_view name;
  int major, minor;
  int warp_size;
  int multiprocessors;            // as HIP counts: work group processors on RDNA3
  int physical_compute_units;
  int threads_per_multiprocessor;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int l2_bytes;
  std::size_t memory_bytes;
  std::size_t shared_bytes = 64 << 10;  // LDS that a block can have
  float time_factor = 1;                // of the times between events
};

// By ordinal: those that $CASS_DEVICES names, a processor for each, with commas between them; else
// the one whose code the program brings, gfx1100 where it brings that or none. They do not change
// in a process. `gfx1100=gfx942` runs code for the first and has the name and sizes of the second;
// `+` behind either form: the card with another name and other sizes.
std::span<const DeviceKind* const> device_kinds();

}  // namespace cass::hip
