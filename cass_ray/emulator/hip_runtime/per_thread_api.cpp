// Entry points for -fgpu-default-stream=per-thread: "_spt" names, which the headers map to. The
// null stream is the calling thread's own. Those that take part in launches and streams are beside
// their namesakes.
#include <hip/hip_runtime_api.h>

#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // hipMemcpyFromArray

#define CASS_SPT extern "C" HIP_PUBLIC_API hipError_t

namespace {

hipStream_t own(hipStream_t stream) { return stream == nullptr ? hipStreamPerThread : stream; }

// A call with a stream, then a wait for it: the blocking form of the call.
hipError_t then_wait(hipError_t result) {
  return result != hipSuccess ? result : hipStreamSynchronize(hipStreamPerThread);
}

}  // namespace

CASS_SPT hipMemcpy_spt(void* destination, const void* source, std::size_t bytes,
                       hipMemcpyKind kind) {
  return hipMemcpyWithStream(destination, source, bytes, kind, hipStreamPerThread);
}

CASS_SPT hipMemcpyAsync_spt(void* destination, const void* source, std::size_t bytes,
                            hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyAsync(destination, source, bytes, kind, own(stream));
}

CASS_SPT hipMemcpyToSymbol_spt(const void* symbol, const void* source, std::size_t bytes,
                               std::size_t offset, hipMemcpyKind kind) {
  return then_wait(hipMemcpyToSymbolAsync(symbol, source, bytes, offset, kind, hipStreamPerThread));
}

CASS_SPT hipMemcpyToSymbolAsync_spt(const void* symbol, const void* source, std::size_t bytes,
                                    std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyToSymbolAsync(symbol, source, bytes, offset, kind, own(stream));
}

CASS_SPT hipMemcpyFromSymbol_spt(void* destination, const void* symbol, std::size_t bytes,
                                 std::size_t offset, hipMemcpyKind kind) {
  return then_wait(
      hipMemcpyFromSymbolAsync(destination, symbol, bytes, offset, kind, hipStreamPerThread));
}

CASS_SPT hipMemcpyFromSymbolAsync_spt(void* destination, const void* symbol, std::size_t bytes,
                                      std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyFromSymbolAsync(destination, symbol, bytes, offset, kind, own(stream));
}

CASS_SPT hipMemcpy2D_spt(void* destination, std::size_t destination_pitch, const void* source,
                         std::size_t source_pitch, std::size_t width, std::size_t height,
                         hipMemcpyKind kind) {
  return then_wait(hipMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width,
                                    height, kind, hipStreamPerThread));
}

CASS_SPT hipMemcpy2DAsync_spt(void* destination, std::size_t destination_pitch, const void* source,
                              std::size_t source_pitch, std::size_t width, std::size_t height,
                              hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, height, kind,
                          own(stream));
}

CASS_SPT hipMemcpy2DToArray_spt(hipArray_t array, std::size_t x, std::size_t y, const void* source,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                hipMemcpyKind kind) {
  return then_wait(
      hipMemcpy2DToArrayAsync(array, x, y, source, pitch, width, height, kind, hipStreamPerThread));
}

CASS_SPT hipMemcpy2DToArrayAsync_spt(hipArray_t array, std::size_t x, std::size_t y,
                                     const void* source, std::size_t pitch, std::size_t width,
                                     std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DToArrayAsync(array, x, y, source, pitch, width, height, kind, own(stream));
}

CASS_SPT hipMemcpy2DFromArray_spt(void* destination, std::size_t pitch, hipArray_const_t array,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, hipMemcpyKind kind) {
  return then_wait(hipMemcpy2DFromArrayAsync(destination, pitch, array, x, y, width, height, kind,
                                             hipStreamPerThread));
}

CASS_SPT hipMemcpy2DFromArrayAsync_spt(void* destination, std::size_t pitch, hipArray_const_t array,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DFromArrayAsync(destination, pitch, array, x, y, width, height, kind,
                                   own(stream));
}

CASS_SPT hipMemcpyFromArray_spt(void* destination, hipArray_const_t array, std::size_t x,
                                std::size_t y, std::size_t bytes, hipMemcpyKind kind) {
  const auto ready = hipStreamSynchronize(hipStreamPerThread);
  return ready != hipSuccess ? ready : hipMemcpyFromArray(destination, array, x, y, bytes, kind);
}

CASS_SPT hipMemcpy3D_spt(const hipMemcpy3DParms* parameters) {
  return then_wait(hipMemcpy3DAsync(parameters, hipStreamPerThread));
}

CASS_SPT hipMemcpy3DAsync_spt(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return hipMemcpy3DAsync(parameters, own(stream));
}

CASS_SPT hipMemset_spt(void* destination, int value, std::size_t bytes) {
  return then_wait(hipMemsetAsync(destination, value, bytes, hipStreamPerThread));
}

CASS_SPT hipMemsetAsync_spt(void* destination, int value, std::size_t bytes, hipStream_t stream) {
  return hipMemsetAsync(destination, value, bytes, own(stream));
}

CASS_SPT hipMemset2D_spt(void* destination, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return then_wait(hipMemset2DAsync(destination, pitch, value, width, height, hipStreamPerThread));
}

CASS_SPT hipMemset2DAsync_spt(void* destination, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, hipStream_t stream) {
  return hipMemset2DAsync(destination, pitch, value, width, height, own(stream));
}

CASS_SPT hipMemset3D_spt(hipPitchedPtr target, int value, hipExtent extent) {
  return then_wait(hipMemset3DAsync(target, value, extent, hipStreamPerThread));
}

CASS_SPT hipMemset3DAsync_spt(hipPitchedPtr target, int value, hipExtent extent,
                              hipStream_t stream) {
  return hipMemset3DAsync(target, value, extent, own(stream));
}
