#include "machine_services.hpp"

#include <bit>

#include "access_violation.hpp"
#include "device_memory.hpp"
#include "hostcall.hpp"
#include "workgroup.hpp"

namespace cass::amdgpu {

void service_interrupt() { serve_hostcalls(); }
void check_addresses(std::uint32_t active, const std::uint64_t* addresses, std::uint32_t bytes) {
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[std::countr_zero(rest)];
    if (in_aperture(address) || DeviceMemory::instance().is_registered(address, bytes)) continue;
    raise_access_violation(address);
  }
}
bool service_signals_first(const Wave& wave) {
  for (unsigned index = 0; index < wave.workgroup->wave_count; ++index) {
    const Wave& other = wave.workgroup->wave(index);
    if (&other != &wave && other.signals >= wave.signals) return false;
  }
  return true;
}
std::uint64_t service_realtime() { return steady_nanoseconds() / 10; }
std::uint64_t service_cycles() { return steady_nanoseconds() * 2; }

}  // namespace cass::amdgpu
