// Memory: allocation, copies, pools.
#include "forward.hpp"

using namespace cass::cuda;

FORWARD(cudaMalloc, hipMalloc, (void** made, std::size_t size), (made, size))
FORWARD(cudaFree, hipFree, (void* memory), (memory))
FORWARD(cudaMallocHost, hipHostMalloc, (void** made, std::size_t size), (made, size, 0))
FORWARD(cudaHostAlloc, hipHostMalloc, (void** made, std::size_t size, unsigned flags),
        (made, size, flags))
FORWARD(cudaFreeHost, hipHostFree, (void* memory), (memory))
FORWARD(cudaHostRegister, hipHostRegister, (void* memory, std::size_t size, unsigned flags),
        (memory, size, flags))
FORWARD(cudaHostUnregister, hipHostUnregister, (void* memory), (memory))
FORWARD(cudaHostGetDevicePointer, hipHostGetDevicePointer,
        (void** found, void* host, unsigned flags), (found, host, flags))
FORWARD(cudaHostGetFlags, hipHostGetFlags, (unsigned* flags, void* host), (flags, host))
// No bytes are a null pointer in CUDA, as of cudaMalloc, and an error in HIP.
CUDA_API int cudaMallocManaged(void** made, std::size_t size, unsigned flags) {
  if (size == 0 && made != nullptr && (flags == hipMemAttachGlobal || flags == hipMemAttachHost)) {
    *made = nullptr;
    return success;
  }
  return CASS_FORWARDED(hipMallocManaged, (made, size, flags));
}
FORWARD(cudaMallocPitch, hipMallocPitch,
        (void** made, std::size_t* pitch, std::size_t width, std::size_t height),
        (made, pitch, width, height))
FORWARD(cudaMalloc3D, hipMalloc3D, (hipPitchedPtr * made, hipExtent extent), (made, extent))
FORWARD(cudaMemGetInfo, hipMemGetInfo, (std::size_t* available, std::size_t* total),
        (available, total))

FORWARD_BOTH(cudaMemcpy, hipMemcpy,
             (void* target, const void* source, std::size_t size, hipMemcpyKind kind),
             (target, source, size, kind))
FORWARD_STREAM(cudaMemcpyAsync, hipMemcpyAsync,
               (void* target, const void* source, std::size_t size, hipMemcpyKind kind,
                hipStream_t stream),
               (target, source, size, kind, stream))
FORWARD_BOTH(cudaMemcpy2D, hipMemcpy2D,
             (void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
              std::size_t width, std::size_t height, hipMemcpyKind kind),
             (target, target_pitch, source, source_pitch, width, height, kind))
FORWARD_STREAM(cudaMemcpy2DAsync, hipMemcpy2DAsync,
               (void* target, std::size_t target_pitch, const void* source,
                std::size_t source_pitch, std::size_t width, std::size_t height, hipMemcpyKind kind,
                hipStream_t stream),
               (target, target_pitch, source, source_pitch, width, height, kind, stream))
FORWARD_BOTH(cudaMemcpy3D, hipMemcpy3D, (const hipMemcpy3DParms* given), (given))
FORWARD_STREAM(cudaMemcpy3DAsync, hipMemcpy3DAsync,
               (const hipMemcpy3DParms* given, hipStream_t stream), (given, stream))
FORWARD(cudaMemcpyPeer, hipMemcpyPeer,
        (void* target, int target_device, const void* source, int source_device, std::size_t size),
        (target, target_device, source, source_device, size))
FORWARD(cudaMemcpyPeerAsync, hipMemcpyPeerAsync,
        (void* target, int target_device, const void* source, int source_device, std::size_t size,
         hipStream_t stream),
        (target, target_device, source, source_device, size, stream))

FORWARD_BOTH(cudaMemset, hipMemset, (void* target, int value, std::size_t size),
             (target, value, size))
FORWARD_STREAM(cudaMemsetAsync, hipMemsetAsync,
               (void* target, int value, std::size_t size, hipStream_t stream),
               (target, value, size, stream))
FORWARD_BOTH(cudaMemset2D, hipMemset2D,
             (void* target, std::size_t pitch, int value, std::size_t width, std::size_t height),
             (target, pitch, value, width, height))
FORWARD_STREAM(cudaMemset2DAsync, hipMemset2DAsync,
               (void* target, std::size_t pitch, int value, std::size_t width, std::size_t height,
                hipStream_t stream),
               (target, pitch, value, width, height, stream))
FORWARD_BOTH(cudaMemset3D, hipMemset3D, (hipPitchedPtr target, int value, hipExtent extent),
             (target, value, extent))
FORWARD_STREAM(cudaMemset3DAsync, hipMemset3DAsync,
               (hipPitchedPtr target, int value, hipExtent extent, hipStream_t stream),
               (target, value, extent, stream))

FORWARD_STREAM(cudaMallocAsync, hipMallocAsync, (void** made, std::size_t size, hipStream_t stream),
               (made, size, stream))
FORWARD_STREAM(cudaFreeAsync, hipFreeAsync, (void* memory, hipStream_t stream), (memory, stream))
FORWARD_STREAM(cudaMallocFromPoolAsync, hipMallocFromPoolAsync,
               (void** made, std::size_t size, hipMemPool_t pool, hipStream_t stream),
               (made, size, pool, stream))
FORWARD(cudaDeviceGetDefaultMemPool, hipDeviceGetDefaultMemPool, (hipMemPool_t * found, int device),
        (found, device))
FORWARD(cudaDeviceGetMemPool, hipDeviceGetMemPool, (hipMemPool_t * found, int device),
        (found, device))
FORWARD(cudaDeviceSetMemPool, hipDeviceSetMemPool, (int device, hipMemPool_t pool), (device, pool))
FORWARD(cudaMemPoolDestroy, hipMemPoolDestroy, (hipMemPool_t pool), (pool))
FORWARD(cudaMemPoolTrimTo, hipMemPoolTrimTo, (hipMemPool_t pool, std::size_t size), (pool, size))
FORWARD(cudaMemPoolSetAttribute, hipMemPoolSetAttribute,
        (hipMemPool_t pool, hipMemPoolAttr attribute, void* value), (pool, attribute, value))
FORWARD(cudaMemPoolGetAttribute, hipMemPoolGetAttribute,
        (hipMemPool_t pool, hipMemPoolAttr attribute, void* value), (pool, attribute, value))

CUDA_API int cudaMemPoolCreate(hipMemPool_t* made, const MemoryPoolProperties* given) {
  if (made == nullptr || given == nullptr) return fail(invalid_value);
  hipMemPoolProps converted{};
  converted.allocType = static_cast<hipMemAllocationType>(given->allocType);
  converted.handleTypes = static_cast<hipMemAllocationHandleType>(given->handleTypes);
  converted.location.type = static_cast<hipMemLocationType>(given->location.type);
  converted.location.id = given->location.id;
  converted.maxSize = given->maxSize;
  return finish(hipMemPoolCreate(made, &converted));
}

CUDA_API int cudaPointerGetAttributes(PointerAttributes* made, const void* memory) {
  hipPointerAttribute_t given{};
  *made = {};
  // CUDA knows no error here: memory that it did not allocate is of no type.
  if (hipPointerGetAttributes(&given, memory) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    made->device = -2;  // cudaInvalidDeviceId
    return success;
  }
  made->type = static_cast<int>(given.type);
  made->device = given.device;
  made->devicePointer = given.devicePointer;
  made->hostPointer = given.hostPointer;
  return success;
}

// Where managed memory is needed next: advice that changes no result.
#if CASS_CUDA_VERSION >= 13
CUDA_API int cudaMemPrefetchAsync(const void*, std::size_t, MemoryLocation, unsigned, hipStream_t) {
  return success;
}
CUDA_API int cudaMemPrefetchAsync_ptsz(const void*, std::size_t, MemoryLocation, unsigned,
                                       hipStream_t) {
  return success;
}
CUDA_API int cudaMemAdvise(const void*, std::size_t, int, MemoryLocation) { return success; }
#else
CUDA_API int cudaMemPrefetchAsync(const void*, std::size_t, int, hipStream_t) { return success; }
CUDA_API int cudaMemPrefetchAsync_ptsz(const void*, std::size_t, int, hipStream_t) {
  return success;
}
CUDA_API int cudaMemAdvise(const void*, std::size_t, int, int) { return success; }
#endif

CUDA_API hipChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, static_cast<hipChannelFormatKind>(kind)};
}
