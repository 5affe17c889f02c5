// What whoever started the device process asks of it. The program never sees any of this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "../engine/settings.hpp"
#include "perturbation.hpp"

namespace cass::device {

struct Options {
  amdgpu::Settings engine;
  bool skip_kernels = false;   // launches are recorded and answered, nothing runs
  bool fragments = false;      // device memory as a card's runtime hands it out
  bool late_streams = false;   // commands of streams start when something waits for them
  Perturbation::Request perturbation;  // what is changed on its way
  std::uint64_t shared_bytes = UINT64_MAX;  // limit of memory that both sides see
  std::uint64_t cpu_seconds = 0;  // of each process; 0: no limit
  int launches = -1;           // open file for the record of launches
  int counters = -1;           // open file for counters
  int transcript = -1;         // open file for what moves between host and device
  int door = -1;               // of a program that runs already
  std::span<char*> program;    // or the command line of the program to start
};

// From the command line: `--name=value ... -- PROGRAM ARGUMENT ...`. Where a program starts its own
// device process, the CASS_EMULATOR_* variables are read too. `problem`: what is wrong with it.
std::optional<Options> read_options(int count, char** arguments, std::string& problem);

}  // namespace cass::device
