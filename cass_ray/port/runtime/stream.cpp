// Streams, events, capture.
#include <memory>

#include "forward.hpp"

using namespace cass::cuda;

FORWARD(cudaStreamCreate, hipStreamCreate, (hipStream_t * made), (made))
FORWARD(cudaStreamCreateWithFlags, hipStreamCreateWithFlags, (hipStream_t * made, unsigned flags),
        (made, flags))
FORWARD(cudaStreamCreateWithPriority, hipStreamCreateWithPriority,
        (hipStream_t * made, unsigned flags, int priority), (made, flags, priority))
FORWARD(cudaStreamDestroy, hipStreamDestroy, (hipStream_t stream), (stream))
FORWARD_STREAM(cudaStreamSynchronize, hipStreamSynchronize, (hipStream_t stream), (stream))
FORWARD_STREAM(cudaStreamQuery, hipStreamQuery, (hipStream_t stream), (stream))
FORWARD_STREAM(cudaStreamGetFlags, hipStreamGetFlags, (hipStream_t stream, unsigned* flags),
               (stream, flags))
FORWARD_STREAM(cudaStreamGetPriority, hipStreamGetPriority, (hipStream_t stream, int* priority),
               (stream, priority))
FORWARD_STREAM(cudaStreamAttachMemAsync, hipStreamAttachMemAsync,
               (hipStream_t stream, void* memory, std::size_t size, unsigned flags),
               (stream, memory, size, flags))
FORWARD_STREAM(cudaStreamBeginCapture, hipStreamBeginCapture,
               (hipStream_t stream, hipStreamCaptureMode mode), (stream, mode))
FORWARD_STREAM(cudaStreamEndCapture, hipStreamEndCapture, (hipStream_t stream, hipGraph_t* graph),
               (stream, graph))
FORWARD_STREAM(cudaStreamIsCapturing, hipStreamIsCapturing,
               (hipStream_t stream, hipStreamCaptureStatus* status), (stream, status))
FORWARD(cudaThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode,
        (hipStreamCaptureMode * mode), (mode))

FORWARD(cudaEventCreate, hipEventCreate, (hipEvent_t * made), (made))
FORWARD(cudaEventCreateWithFlags, hipEventCreateWithFlags, (hipEvent_t * made, unsigned flags),
        (made, flags))
FORWARD(cudaEventDestroy, hipEventDestroy, (hipEvent_t event), (event))
FORWARD_STREAM(cudaEventRecord, hipEventRecord, (hipEvent_t event, hipStream_t stream),
               (event, stream))
FORWARD(cudaEventSynchronize, hipEventSynchronize, (hipEvent_t event), (event))
FORWARD(cudaEventQuery, hipEventQuery, (hipEvent_t event), (event))
FORWARD(cudaEventElapsedTime, hipEventElapsedTime,
        (float* milliseconds, hipEvent_t start, hipEvent_t stop), (milliseconds, start, stop))

namespace {

constexpr unsigned external = 1;  // cudaEventRecordExternal, cudaEventWaitExternal

// An event that the graph which `stream` captures has in common with what is outside of it: a node,
// and no dependence between nodes. Nothing else has such events.
template <typename Add>
hipError_t capture_external(hipStream_t stream, hipEvent_t event, Add add_node) {
  hipStreamCaptureStatus status{};
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* after = nullptr;
  std::size_t count = 0;
  auto result = hipStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &after, &count);
  if (result != hipSuccess) return result;
  if (status != hipStreamCaptureStatusActive) return hipErrorIllegalState;
  hipGraphNode_t node = nullptr;
  result = add_node(&node, graph, after, count, event);
  if (result != hipSuccess) return result;
  return hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies);
}

hipError_t record_event(hipEvent_t event, hipStream_t stream, unsigned flags) {
  if (flags == 0) return hipEventRecord(event, stream);
  if (flags != external) return hipErrorInvalidValue;
  return capture_external(stream, event, hipGraphAddEventRecordNode);
}

hipError_t wait_for_event(hipStream_t stream, hipEvent_t event, unsigned flags) {
  if (flags != external) return hipStreamWaitEvent(stream, event, flags);
  return capture_external(stream, event, hipGraphAddEventWaitNode);
}

}  // namespace

FORWARD_STREAM(cudaEventRecordWithFlags, record_event,
               (hipEvent_t event, hipStream_t stream, unsigned flags), (event, stream, flags))
FORWARD_STREAM(cudaStreamWaitEvent, wait_for_event,
               (hipStream_t stream, hipEvent_t event, unsigned flags), (stream, event, flags))

namespace {

using Callback = void (*)(hipStream_t, int, void*);

struct Pending {
  Callback function;
  void* data;
};

void call_back(hipStream_t stream, hipError_t status, void* data) {
  const std::unique_ptr<Pending> pending(static_cast<Pending*>(data));
  pending->function(stream, static_cast<int>(status), pending->data);
}

}  // namespace

CUDA_API int cudaStreamAddCallback(hipStream_t stream, Callback function, void* data,
                                   unsigned flags) {
  auto pending = std::make_unique<Pending>(Pending{function, data});
  const auto result = hipStreamAddCallback(stream, call_back, pending.get(), flags);
  if (result == hipSuccess) static_cast<void>(pending.release());
  return finish(result);
}
