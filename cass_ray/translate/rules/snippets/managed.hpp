#ifndef CASS_MANAGED
#define CASS_MANAGED
#include <hip/hip_runtime.h>
// CUDA's functions of symbols, for managed variables: `variable` is its memory on host and device.
namespace cass {
template <typename T>
inline hipError_t memcpy_to_managed_async(T& variable, const void* source, size_t bytes,
                                          size_t offset = 0,
                                          hipMemcpyKind kind = hipMemcpyHostToDevice,
                                          hipStream_t stream = nullptr) {
    if (offset > sizeof(T) || bytes > sizeof(T) - offset) return hipErrorInvalidValue;
    char* target = const_cast<char*>(reinterpret_cast<const volatile char*>(&variable)) + offset;
    return hipMemcpyAsync(target, source, bytes, kind, stream);
}
template <typename T>
inline hipError_t memcpy_from_managed_async(void* target, const T& variable, size_t bytes,
                                            size_t offset = 0,
                                            hipMemcpyKind kind = hipMemcpyDeviceToHost,
                                            hipStream_t stream = nullptr) {
    if (offset > sizeof(T) || bytes > sizeof(T) - offset) return hipErrorInvalidValue;
    const char* source = const_cast<const char*>(reinterpret_cast<const volatile char*>(&variable)) + offset;
    return hipMemcpyAsync(target, source, bytes, kind, stream);
}
template <typename T>
inline hipError_t memcpy_to_managed(T& variable, const void* source, size_t bytes, size_t offset = 0,
                                    hipMemcpyKind kind = hipMemcpyHostToDevice) {
    const hipError_t error = memcpy_to_managed_async(variable, source, bytes, offset, kind);
    return error == hipSuccess ? hipStreamSynchronize(nullptr) : error;
}
template <typename T>
inline hipError_t memcpy_from_managed(void* target, const T& variable, size_t bytes,
                                      size_t offset = 0,
                                      hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    const hipError_t error = memcpy_from_managed_async(target, variable, bytes, offset, kind);
    return error == hipSuccess ? hipStreamSynchronize(nullptr) : error;
}
template <typename T, typename Pointer>
inline hipError_t address_of_managed(Pointer** address, T& variable) {
    *address = reinterpret_cast<Pointer*>(const_cast<char*>(reinterpret_cast<const volatile char*>(&variable)));
    return hipSuccess;
}
template <typename T> inline hipError_t size_of_managed(size_t* bytes, const T&) {
    *bytes = sizeof(T);
    return hipSuccess;
}
}  // namespace cass
#endif
