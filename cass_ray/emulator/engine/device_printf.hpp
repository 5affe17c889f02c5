// printf of device code, from the message that the device library sends.
#pragma once

#include <cstdint>
#include <span>

namespace cass::amdgpu {

// Prints a message: flags (bit 0: stderr), the format, the arguments, each from a new 8-byte word;
// strings padded to words. Returns printf's result; -1 where the message is damaged.
int print_message(std::span<const std::uint64_t> message);

}  // namespace cass::amdgpu
