// One process of the program, served by a process of ours.
#pragma once

#include "evidence.hpp"
#include "messages.hpp"
#include "options.hpp"

namespace cass::device {

// Serves `socket` until the program's process is gone or `end`, a pipe, is closed; then writes the
// counters and ends this process.
[[noreturn]] void serve_connection(const Options& options, Evidence& evidence, File socket,
                                   int end);

}  // namespace cass::device
