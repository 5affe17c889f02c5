// The device process's own sandbox.
#pragma once

#include <cstdint>

namespace cass::device {

// From now on this process and its children make no system calls but those of a computation on
// memory and open files that are there: no file is opened, no socket made, nothing executed or
// signalled. Rights cannot be gained. False where the kernel refuses.
bool confine(std::uint64_t cpu_seconds);

}  // namespace cass::device
