// What kernels ran, for whoever started the run: written here, where the program cannot reach it.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cass::device {

struct LaunchShape {
  std::array<std::uint32_t, 3> grid_blocks{};
  std::array<std::uint32_t, 3> block_threads{};
  std::uint64_t shared_bytes = 0;
  bool graph = false;
};

// The record of launches lies in a file that both the device process and its supervisor map: it
// survives a kill. Layout: cass_ray/emulator/device_process.py. Processes of several connections
// write to one record.
class Evidence {
 public:
  // Open files, or -1. Call before processes are forked.
  Evidence(int launches, int counters);

  void count_launch(std::string_view kernel, const LaunchShape& shape);

  // Appends the counters of this process.
  void write_counters();

 private:
  static constexpr std::size_t record_count = 1024;
  static constexpr std::size_t name_bytes = 464;
  struct Record {
    std::uint64_t count;
    std::uint64_t shared_bytes;
    std::uint32_t grid[3];
    std::uint32_t block[3];
    std::uint64_t graph;
    char name[name_bytes];
  };
  static_assert(sizeof(Record) == 512);

  bool same(const Record& record, std::string_view kernel, const LaunchShape& shape) const;

  Record* records_ = nullptr;
  pthread_mutex_t* guard_ = nullptr;  // of all processes
  int counters_;
};

}  // namespace cass::device
