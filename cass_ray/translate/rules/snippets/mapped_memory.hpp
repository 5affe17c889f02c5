#ifndef CASS_MAPPED_MEMORY
#define CASS_MAPPED_MEMORY
#include <hip/hip_runtime.h>
namespace cass {
// cudaFree refuses memory of the host, of which a program may have the device's pointer; hipFree takes it.
inline hipError_t free_device_memory(void* memory) {
    hipPointerAttribute_t attributes;
    const bool is_known = memory != nullptr && hipPointerGetAttributes(&attributes, memory) == hipSuccess;
    return is_known && attributes.type == hipMemoryTypeHost ? hipErrorInvalidValue : hipFree(memory);
}
}  // namespace cass
#endif
