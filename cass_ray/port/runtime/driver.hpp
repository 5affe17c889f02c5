// The driver interface, for programs that do not link it.
#pragma once

namespace cass::cuda {

// A function of libcuda.so.1; null where there is none.
void* driver_function(const char* name);

}  // namespace cass::cuda
