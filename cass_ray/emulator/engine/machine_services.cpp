#include "machine_services.hpp"

#include "hostcall.hpp"
#include "workgroup.hpp"

namespace cass::rdna3 {

void service_interrupt() { serve_hostcalls(); }
std::uint64_t service_realtime() { return steady_nanoseconds() / 10; }
std::uint64_t service_cycles() { return steady_nanoseconds() * 2; }

}  // namespace cass::rdna3
