// The devices that the runtime presents: what device_kind.hpp says, as HIP's properties.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cass::hip {

inline constexpr int max_threads_per_block = 1024;
inline constexpr std::size_t default_stack_bytes = 1024;
inline constexpr std::size_t pitch_alignment = 256;

// Of a device that there is.
const hipDeviceProp_tR0600& device_properties(int device);

// hipErrorInvalidDevice for an ordinal that no device has.
hipError_t check_device(int device);

}  // namespace cass::hip
