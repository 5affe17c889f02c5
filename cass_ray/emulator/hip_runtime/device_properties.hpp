// The device that the runtime presents: an AMD Radeon RX 7900 XT (gfx1100).
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cass::hip {

inline constexpr int device_count = 1;
inline constexpr std::size_t device_memory_bytes = std::size_t{20464} << 20;  // of 20 GiB
inline constexpr std::size_t shared_bytes_per_block = 64 << 10;
inline constexpr std::uint64_t max_threads_per_block = 1024;
inline constexpr int multiprocessors = 42;  // WGPs; HIP counts these on RDNA3, not the 84 CUs
inline constexpr int physical_compute_units = 84;
inline constexpr int threads_per_multiprocessor = 2048;
inline constexpr std::size_t default_stack_bytes = 1024;
inline constexpr std::size_t pitch_alignment = 256;

const hipDeviceProp_tR0600& device_properties();

// hipErrorInvalidDevice for other ordinals than 0.
hipError_t check_device(int device);

}  // namespace cass::hip
