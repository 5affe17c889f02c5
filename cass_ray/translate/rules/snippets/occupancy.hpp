#ifndef CASS_OCCUPANCY
#define CASS_OCCUPANCY
#include <cstddef>
// cuda_occupancy.h: how many blocks a multiprocessor holds, here by the limits that HIP tells of the device.
namespace cass {
inline std::size_t occupancy_divide_up(std::size_t a, std::size_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
inline std::size_t occupancy_round_up(std::size_t a, std::size_t b) { return occupancy_divide_up(a, b) * b; }
struct occupancy_device : hipDeviceProp_t {
    occupancy_device() : hipDeviceProp_t() {}
    occupancy_device(const hipDeviceProp_t& properties) : hipDeviceProp_t(properties) {}
};
struct occupancy_function : hipFuncAttributes {
    occupancy_function() : hipFuncAttributes() {}
    occupancy_function(const hipFuncAttributes& attributes) : hipFuncAttributes(attributes) {}
};
struct occupancy_state {
    int cacheConfig = 0, carveoutConfig = 0;
};
struct occupancy_result {
    int activeBlocksPerMultiprocessor = 0;
    unsigned int limitingFactors = 0;
};
// Shared memory is given out in kilobytes.
inline int occupancy_granularity(int* bytes, const occupancy_device*) {
    *bytes = 1024;
    return 0;
}
inline int occupancy_blocks(occupancy_result* result, const occupancy_device* device,
                            const occupancy_function* function, const occupancy_state*, int block,
                            std::size_t dynamic) {
    *result = occupancy_result();
    if (block <= 0) return 1;
    const std::size_t shared = function->sharedSizeBytes + dynamic;
    const int most = function->maxThreadsPerBlock;
    if (block > device->maxThreadsPerBlock || (most > 0 && block > most) || shared > device->sharedMemPerBlock) return 0;
    const std::size_t threads = occupancy_round_up(block, device->warpSize);
    std::size_t blocks = device->maxThreadsPerMultiProcessor / threads;
    const auto at_most = [&blocks](std::size_t all, std::size_t one) {
        if (one != 0 && all / one < blocks) blocks = all / one;
    };
    // HIP's sharedMemPerMultiprocessor is that of all of them.
    at_most(device->maxSharedMemoryPerMultiProcessor, occupancy_round_up(shared, 1024));
    at_most(device->regsPerMultiprocessor, occupancy_round_up(function->numRegs, 8) * threads);
    result->activeBlocksPerMultiprocessor = static_cast<int>(blocks);
    return 0;
}
inline int occupancy_block_size(int* grid, int* block, const occupancy_device* device,
                                const occupancy_function* function, const occupancy_state* state,
                                std::size_t dynamic) {
    int best = 0;
    *grid = *block = 0;
    for (int size = device->maxThreadsPerBlock; size >= device->warpSize; size -= device->warpSize) {
        occupancy_result found;
        if (const int error = occupancy_blocks(&found, device, function, state, size, dynamic)) return error;
        if (found.activeBlocksPerMultiprocessor * size <= best) continue;
        best = found.activeBlocksPerMultiprocessor * size;
        *block = size;
        *grid = found.activeBlocksPerMultiprocessor * device->multiProcessorCount;
    }
    return 0;
}
}  // namespace cass
#endif
