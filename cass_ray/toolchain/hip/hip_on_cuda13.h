// Forced in before a HIP program that nvcc compiles with HIP's own headers for Nvidia: gives those
// headers back what CUDA 13 took out of the runtime API ("CUDA 13.0 release notes, removed
// features"), then includes them. With CUDA 12 and earlier it only includes them.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000

// cudaDeviceProp without the members that became attributes only.
struct CassDeviceProperties : cudaDeviceProp {
  int clockRate, computeMode, deviceOverlap, kernelExecTimeoutEnabled, maxTexture1DLinear;
  int memoryClockRate, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};

static inline cudaError_t cudaGetDeviceProperties(CassDeviceProperties* made, int device) {
  const cudaError_t status = cudaGetDeviceProperties(static_cast<cudaDeviceProp*>(made), device);
  const struct {
    int* value;
    cudaDeviceAttr attribute;
  } members[] = {
      {&made->clockRate, cudaDevAttrClockRate},
      {&made->computeMode, cudaDevAttrComputeMode},
      {&made->deviceOverlap, cudaDevAttrGpuOverlap},
      {&made->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
      {&made->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
      {&made->memoryClockRate, cudaDevAttrMemoryClockRate},
      {&made->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
  };
  for (const auto& member : members) {
    *member.value = 0;
    if (status == cudaSuccess) cudaDeviceGetAttribute(member.value, member.attribute, device);
  }
  made->cooperativeMultiDeviceLaunch = 0;
  return status;
}

static inline cudaMemLocation cass_memory_location(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

static inline cudaError_t cudaMemAdvise(const void* address, size_t bytes, cudaMemoryAdvise advice,
                                        int device) {
  return cudaMemAdvise(address, bytes, advice, cass_memory_location(device));
}

static inline cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, int device,
                                               cudaStream_t stream) {
  return cudaMemPrefetchAsync(address, bytes, cass_memory_location(device), 0, stream);
}

static inline CUresult cuCtxCreate_v4(CUcontext* context, unsigned flags, CUdevice device) {
  return cuCtxCreate_v4(context, nullptr, flags, device);
}

// Graphs: CUDA 13 takes data about edges as well; none is what the older functions meant.
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                      const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                            cudaGraphNode_t* to, size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                       size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                         cudaGraphNode_t* nodes, size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
static inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                              cudaGraphNode_t* nodes, size_t count,
                                                              unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}
static inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                                      cudaStreamCaptureStatus* status,
                                                      unsigned long long* id, cudaGraph_t* graph,
                                                      const cudaGraphNode_t** nodes,
                                                      size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}
static inline CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status,
                                                 cuuint64_t* id, CUgraph* graph,
                                                 const CUgraphNode** nodes, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}

// Texture references and launches on several devices are gone: HIP's functions for them compile
// and answer that they are not supported.
template <typename T, int dimensions, cudaTextureReadMode mode>
struct texture {};
#define CASS_REMOVED(NAME)                         \
  template <typename... Arguments>                 \
  static inline cudaError_t NAME(Arguments&&...) { \
    return cudaErrorNotSupported;                  \
  }
CASS_REMOVED(cudaBindTexture)
CASS_REMOVED(cudaBindTexture2D)
CASS_REMOVED(cudaBindTextureToArray)
CASS_REMOVED(cudaBindTextureToMipmappedArray)
CASS_REMOVED(cudaUnbindTexture)
CASS_REMOVED(cudaGetTextureAlignmentOffset)
CASS_REMOVED(cudaGetTextureReference)
CASS_REMOVED(cudaLaunchCooperativeKernelMultiDevice)
#undef CASS_REMOVED

#define cudaDeviceProp CassDeviceProperties
#define cudaDevAttrCooperativeMultiDeviceLaunch static_cast<cudaDeviceAttr>(96)
#include <hip/hip_runtime.h>
#undef cudaDeviceProp
#undef cudaDevAttrCooperativeMultiDeviceLaunch

#else
#include <hip/hip_runtime.h>
#endif

#include <type_traits>

// HIP's functions on symbols take the symbol itself on AMD GPUs, its address on Nvidia's
// (HIP_SYMBOL is the portable way). Translated programs name the symbol, as CUDA programs do.
namespace cass_hip {
template <typename Symbol>
static inline const void* address_of(Symbol&& symbol) {
  if constexpr (std::is_lvalue_reference<Symbol>::value) {
    return &reinterpret_cast<const char&>(symbol);
  } else {
    return symbol;
  }
}
}  // namespace cass_hip

template <typename Symbol>
static inline hipError_t hipMemcpyToSymbol(Symbol&& symbol, const void* source, size_t bytes,
                                           size_t offset = 0,
                                           hipMemcpyKind kind = hipMemcpyHostToDevice) {
  const void* address = cass_hip::address_of(static_cast<Symbol&&>(symbol));
  return hipMemcpyToSymbol(address, source, bytes, offset, kind);
}
template <typename Symbol>
static inline hipError_t hipMemcpyToSymbolAsync(Symbol&& symbol, const void* source, size_t bytes,
                                                size_t offset, hipMemcpyKind kind,
                                                hipStream_t stream = nullptr) {
  const void* address = cass_hip::address_of(static_cast<Symbol&&>(symbol));
  return hipMemcpyToSymbolAsync(address, source, bytes, offset, kind, stream);
}
template <typename Symbol>
static inline hipError_t hipMemcpyFromSymbol(void* target, Symbol&& symbol, size_t bytes,
                                             size_t offset = 0,
                                             hipMemcpyKind kind = hipMemcpyDeviceToHost) {
  const void* address = cass_hip::address_of(static_cast<Symbol&&>(symbol));
  return hipMemcpyFromSymbol(target, address, bytes, offset, kind);
}
template <typename Symbol>
static inline hipError_t hipMemcpyFromSymbolAsync(void* target, Symbol&& symbol, size_t bytes,
                                                  size_t offset, hipMemcpyKind kind,
                                                  hipStream_t stream = nullptr) {
  const void* address = cass_hip::address_of(static_cast<Symbol&&>(symbol));
  return hipMemcpyFromSymbolAsync(target, address, bytes, offset, kind, stream);
}
template <typename Pointer, typename Symbol>
static inline hipError_t hipGetSymbolAddress(Pointer** pointer, Symbol&& symbol) {
  const void* address = cass_hip::address_of(static_cast<Symbol&&>(symbol));
  return hipGetSymbolAddress(reinterpret_cast<void**>(pointer), address);
}
template <typename Symbol>
static inline hipError_t hipGetSymbolSize(size_t* size, Symbol&& symbol) {
  return hipGetSymbolSize(size, cass_hip::address_of(static_cast<Symbol&&>(symbol)));
}

#if !defined(hipLimitStackSize)
#define hipLimitStackSize cudaLimitStackSize
#endif

// CUDA's own headers must be read before the names below become macros.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// HIP's operations across a wavefront that take no mask: the active threads take part. A wavefront
// has 32 lanes here, so the upper half of a 64-bit ballot is empty.
namespace cass_hip {
__device__ inline unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ inline unsigned long long ballot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}
__device__ inline int any(int predicate) { return __any_sync(__activemask(), predicate); }
__device__ inline int all(int predicate) { return __all_sync(__activemask(), predicate); }
template <typename T>
__device__ inline T shfl(T value, int lane, int width = 32) {
  return __shfl_sync(__activemask(), value, lane, width);
}
template <typename T>
__device__ inline T shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(__activemask(), value, delta, width);
}
template <typename T>
__device__ inline T shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(__activemask(), value, delta, width);
}
template <typename T>
__device__ inline T shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}
}  // namespace cass_hip
#define __lane_id() cass_hip::lane_id()
#define __ballot64(predicate) cass_hip::ballot(predicate)
#define __ballot(predicate) cass_hip::ballot(predicate)
#define __any(predicate) cass_hip::any(predicate)
#define __all(predicate) cass_hip::all(predicate)
#define __shfl(...) cass_hip::shfl(__VA_ARGS__)
#define __shfl_up(...) cass_hip::shfl_up(__VA_ARGS__)
#define __shfl_down(...) cass_hip::shfl_down(__VA_ARGS__)
#define __shfl_xor(...) cass_hip::shfl_xor(__VA_ARGS__)
