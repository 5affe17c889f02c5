// The device that the runtime presents: what device_kind.hpp says, as HIP's properties.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cass::hip {

inline constexpr int device_count = 1;
inline constexpr std::size_t shared_bytes_per_block = 64 << 10;
inline constexpr int max_threads_per_block = 1024;
inline constexpr std::size_t default_stack_bytes = 1024;
inline constexpr std::size_t pitch_alignment = 256;

const hipDeviceProp_tR0600& device_properties();

// hipErrorInvalidDevice for other ordinals than 0.
hipError_t check_device(int device);

}  // namespace cass::hip
