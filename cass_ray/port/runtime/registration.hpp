// What was said of kernels when they were registered.
#pragma once

namespace cass::cuda {

// The architecture of the machine code that a kernel was lifted from, 80 for sm_80; 0 for a kernel
// that was not registered.
int capability_of(const void* kernel);

}  // namespace cass::cuda
