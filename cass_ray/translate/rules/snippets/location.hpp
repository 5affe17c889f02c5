#ifndef CASS_LOCATION
#define CASS_LOCATION
// CUDA 13 says by a location where memory is wanted, HIP by the number of a device.
namespace cass {
inline hipError_t device_at(hipMemLocation location, int& device) {
    const int type = static_cast<int>(location.type);  // 1 is a device, 2 to 4 are the host
    device = type == 1 ? location.id : hipCpuDeviceId;
    return type >= 1 && type <= 4 ? hipSuccess : hipErrorInvalidValue;
}
inline hipError_t mem_prefetch_async(const void* data, size_t bytes, int device, hipStream_t stream = nullptr) {
    return hipMemPrefetchAsync(data, bytes, device, stream);
}
inline hipError_t mem_prefetch_async(const void* data, size_t bytes, hipMemLocation location,
                                     unsigned int flags, hipStream_t stream = nullptr) {
    int device = 0;
    if (flags != 0 || device_at(location, device) != hipSuccess) return hipErrorInvalidValue;
    return hipMemPrefetchAsync(data, bytes, device, stream);
}
inline hipError_t mem_advise(const void* data, size_t bytes, hipMemoryAdvise advice, int device) {
    return hipMemAdvise(data, bytes, advice, device);
}
inline hipError_t mem_advise(const void* data, size_t bytes, hipMemoryAdvise advice, hipMemLocation location) {
    int device = 0;
    const bool is_needed = advice != hipMemAdviseSetReadMostly && advice != hipMemAdviseUnsetReadMostly &&
                           advice != hipMemAdviseUnsetPreferredLocation;
    if (device_at(location, device) != hipSuccess && is_needed) return hipErrorInvalidValue;
    return hipMemAdvise(data, bytes, advice, device);
}
}  // namespace cass
#endif
