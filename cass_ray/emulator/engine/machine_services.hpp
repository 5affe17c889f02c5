// What handlers ask of the rest of the machine.
#pragma once

#include <cstdint>

namespace cass::amdgpu {

struct Wave;

// Wave::budget of a wave that gave its turn up with s_sleep: it waits for what others do.
inline constexpr std::int32_t budget_of_sleeping = -1'000'000'000;

void service_interrupt();            // s_sendmsg MSG_INTERRUPT: the hostcall doorbell
std::uint64_t service_realtime();    // a 100 MHz clock
// Returns if the `bytes` bytes at each active lane's address are memory that kernels may use:
// registered host memory, since the handler has looked at the aperture. Else an access violation.
void check_addresses(std::uint32_t active, const std::uint64_t* addresses, std::uint32_t bytes);

bool service_signals_first(const Wave& wave);  // whether no other wave has given its last signal
std::uint64_t service_cycles();      // something that counts up about like shader cycles

}  // namespace cass::amdgpu
