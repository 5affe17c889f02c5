// Services of the host for device code: printf, malloc, assert messages.
#pragma once

#include <cstdint>

namespace cass::amdgpu {

std::uint64_t hostcall_buffer_address();  // for the hidden kernel argument
std::uint64_t device_heap_address();

// Serves what waves have put into the buffer. Called by the wave that interrupts the host.
void serve_hostcalls();

}  // namespace cass::amdgpu
