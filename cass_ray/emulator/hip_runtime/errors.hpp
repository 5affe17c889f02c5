// Error codes of the calling thread, and what goes to standard error.
//
// The last error is kept until hipGetLastError reads it: a later success does not clear it (as in
// CUDA and HIP 7; HIP 6 overwrites it with the result of every call).
#pragma once

#include <hip/hip_runtime_api.h>

#include <string_view>

namespace cass::hip {

// Remembers a failure for hipGetLastError and returns its argument: the last step of an entry
// point.
hipError_t record(hipError_t result);

// Writes "cass emulator: MESSAGE" and a newline to standard error in one piece.
void report(std::string_view message);

// The same, but each message only once in the life of the process.
void report_once(std::string_view message);

// hipErrorNotSupported, after saying once that `entry_point` is not there.
hipError_t unsupported(const char* entry_point);

}  // namespace cass::hip
