// Memory and copies. A CUdeviceptr is an integer of a pointer's size, passed as one.
#include "result.hpp"

using namespace cass::cuda::driver;

FORWARD(cuMemAlloc_v2, hipMalloc, (void** made, std::size_t bytes), (made, bytes))
FORWARD(cuMemFree_v2, hipFree, (void* memory), (memory))
FORWARD(cuMemAllocPitch_v2, hipMemAllocPitch,
        (hipDeviceptr_t * made, std::size_t* pitch, std::size_t width, std::size_t height,
         unsigned element),
        (made, pitch, width, height, element))
FORWARD(cuMemAllocHost_v2, hipHostMalloc, (void** made, std::size_t bytes),
        (made, bytes, hipHostMallocDefault))
FORWARD(cuMemFreeHost, hipHostFree, (void* memory), (memory))
FORWARD(cuMemHostAlloc, hipHostMalloc, (void** made, std::size_t bytes, unsigned flags),
        (made, bytes, flags))
FORWARD(cuMemHostGetDevicePointer_v2, hipHostGetDevicePointer,
        (void** found, void* memory, unsigned flags), (found, memory, flags))
FORWARD(cuMemHostRegister_v2, hipHostRegister, (void* memory, std::size_t bytes, unsigned flags),
        (memory, bytes, flags))
FORWARD(cuMemHostUnregister, hipHostUnregister, (void* memory), (memory))
FORWARD(cuMemAllocManaged, hipMallocManaged, (void** made, std::size_t bytes, unsigned flags),
        (made, bytes, flags))
FORWARD(cuMemAllocAsync, hipMallocAsync, (void** made, std::size_t bytes, hipStream_t stream),
        (made, bytes, stream))
FORWARD(cuMemFreeAsync, hipFreeAsync, (void* memory, hipStream_t stream), (memory, stream))
FORWARD(cuMemGetInfo_v2, hipMemGetInfo, (std::size_t* left, std::size_t* total), (left, total))
FORWARD(cuMemGetAddressRange_v2, hipMemGetAddressRange,
        (hipDeviceptr_t * start, std::size_t* bytes, hipDeviceptr_t memory), (start, bytes, memory))

FORWARD(cuMemcpy, hipMemcpy, (void* to, void* from, std::size_t bytes),
        (to, from, bytes, hipMemcpyDefault))
FORWARD(cuMemcpyAsync, hipMemcpyAsync,
        (void* to, void* from, std::size_t bytes, hipStream_t stream),
        (to, from, bytes, hipMemcpyDefault, stream))
FORWARD(cuMemcpyHtoD_v2, hipMemcpyHtoD, (hipDeviceptr_t to, void* from, std::size_t bytes),
        (to, from, bytes))
FORWARD(cuMemcpyDtoH_v2, hipMemcpyDtoH, (void* to, hipDeviceptr_t from, std::size_t bytes),
        (to, from, bytes))
FORWARD(cuMemcpyDtoD_v2, hipMemcpyDtoD, (hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes),
        (to, from, bytes))
FORWARD(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync,
        (hipDeviceptr_t to, void* from, std::size_t bytes, hipStream_t stream),
        (to, from, bytes, stream))
FORWARD(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync,
        (void* to, hipDeviceptr_t from, std::size_t bytes, hipStream_t stream),
        (to, from, bytes, stream))
FORWARD(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync,
        (hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes, hipStream_t stream),
        (to, from, bytes, stream))

FORWARD(cuMemsetD8_v2, hipMemsetD8, (hipDeviceptr_t to, unsigned char value, std::size_t count),
        (to, value, count))
FORWARD(cuMemsetD16_v2, hipMemsetD16, (hipDeviceptr_t to, unsigned short value, std::size_t count),
        (to, value, count))
FORWARD(cuMemsetD32_v2, hipMemsetD32, (hipDeviceptr_t to, unsigned value, std::size_t count),
        (to, static_cast<int>(value), count))
FORWARD(cuMemsetD8Async, hipMemsetD8Async,
        (hipDeviceptr_t to, unsigned char value, std::size_t count, hipStream_t stream),
        (to, value, count, stream))
FORWARD(cuMemsetD16Async, hipMemsetD16Async,
        (hipDeviceptr_t to, unsigned short value, std::size_t count, hipStream_t stream),
        (to, value, count, stream))
FORWARD(cuMemsetD32Async, hipMemsetD32Async,
        (hipDeviceptr_t to, unsigned value, std::size_t count, hipStream_t stream),
        (to, static_cast<int>(value), count, stream))
