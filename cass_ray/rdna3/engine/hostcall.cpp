#include "hostcall.hpp"

namespace cass::rdna3 {

std::uint64_t hostcall_buffer_address() { return 0; }
std::uint64_t device_heap_address() { return 0; }
void serve_hostcalls() {}

}  // namespace cass::rdna3
