// Entry points of stream capture.
#include <hip/hip_runtime_api.h>

#include <utility>

#include "capture.hpp"
#include "device.hpp"
#include "errors.hpp"
#include "graph.hpp"

using namespace cass::hip;

namespace {

bool is_mode(hipStreamCaptureMode mode) {
  return mode >= hipStreamCaptureModeGlobal && mode <= hipStreamCaptureModeRelaxed;
}

hipError_t begin(hipStream_t handle, hipStreamCaptureMode mode, hipGraph_t target, Nodes tails) {
  if (!is_mode(mode)) return hipErrorInvalidValue;
  const auto stream = Device::stream(handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  if (stream == Device::stream(nullptr)) return hipErrorStreamCaptureUnsupported;
  const std::lock_guard lock(Device::lock());
  if (stream->capture != nullptr) return hipErrorIllegalState;
  Capture::begin(*stream, mode, target, std::move(tails));
  return hipSuccess;
}

}  // namespace

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return record(begin(stream, mode, nullptr, {}));
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamBeginCapture_spt(hipStream_t stream,
                                                               hipStreamCaptureMode mode) {
  return hipStreamBeginCapture(stream == nullptr ? hipStreamPerThread : stream, mode);
}

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph,
                                        const hipGraphNode_t* dependencies,
                                        const hipGraphEdgeData* edges, std::size_t count,
                                        hipStreamCaptureMode mode) {
  if (edges != nullptr || (count > 0 && dependencies == nullptr)) {
    return record(hipErrorInvalidValue);
  }
  {
    const std::lock_guard lock(graph_lock());
    if (!is_graph(graph)) return record(hipErrorInvalidValue);
    for (std::size_t index = 0; index < count; ++index) {
      if (!graph->contains(dependencies[index])) return record(hipErrorInvalidValue);
    }
  }
  return record(begin(stream, mode, graph, Nodes(dependencies, dependencies + count)));
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t* graph) {
  if (graph == nullptr) return record(hipErrorInvalidValue);
  CASS_STREAM(stream, handle);
  const std::lock_guard lock(Device::lock());
  if (stream->capture == nullptr) return record(hipErrorIllegalState);
  const auto capture = stream->capture;
  const bool own = capture->owns_graph();
  const auto error = capture->end(*stream, graph);
  if (*graph != nullptr && own) own_graph(*graph);
  return record(error);
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamEndCapture_spt(hipStream_t stream,
                                                             hipGraph_t* graph) {
  return hipStreamEndCapture(stream == nullptr ? hipStreamPerThread : stream, graph);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus* status,
                                      unsigned long long* id, hipGraph_t* graph,
                                      const hipGraphNode_t** dependencies, std::size_t* count) {
  if (status == nullptr) return record(hipErrorInvalidValue);
  CASS_STREAM(stream, handle);
  const std::lock_guard lock(Device::lock());
  const auto& capture = stream->capture;
  *status = capture == nullptr ? hipStreamCaptureStatusNone : capture->status();
  if (*status != hipStreamCaptureStatusActive) return hipSuccess;
  if (id != nullptr) *id = capture->id();
  if (graph != nullptr) *graph = capture->graph();
  const auto& tails = capture->tails(*stream);
  if (dependencies != nullptr) *dependencies = tails.data();
  if (count != nullptr) *count = tails.size();
  return hipSuccess;
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamGetCaptureInfo_v2_spt(
    hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id, hipGraph_t* graph,
    const hipGraphNode_t** dependencies, std::size_t* count) {
  return hipStreamGetCaptureInfo_v2(stream == nullptr ? hipStreamPerThread : stream, status, id,
                                    graph, dependencies, count);
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return hipStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream,
                                                                 hipStreamCaptureStatus* status,
                                                                 unsigned long long* id) {
  return hipStreamGetCaptureInfo(stream == nullptr ? hipStreamPerThread : stream, status, id);
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return hipStreamGetCaptureInfo_v2(stream, status, nullptr, nullptr, nullptr, nullptr);
}

extern "C" HIP_PUBLIC_API hipError_t hipStreamIsCapturing_spt(hipStream_t stream,
                                                              hipStreamCaptureStatus* status) {
  return hipStreamIsCapturing(stream == nullptr ? hipStreamPerThread : stream, status);
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t* dependencies,
                                              std::size_t count, unsigned flags) {
  if ((count > 0 && dependencies == nullptr) || flags > hipStreamSetCaptureDependencies) {
    return record(hipErrorInvalidValue);
  }
  CASS_STREAM(stream, handle);
  const std::lock_guard lock(Device::lock());
  const auto& capture = stream->capture;
  if (capture == nullptr) return record(hipErrorIllegalState);
  for (std::size_t index = 0; index < count; ++index) {
    if (!capture->graph()->contains(dependencies[index])) return record(hipErrorInvalidValue);
  }
  if (flags == hipStreamSetCaptureDependencies) capture->set_tails(*stream, {});
  capture->join(*stream, Nodes(dependencies, dependencies + count));
  return hipSuccess;
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  if (mode == nullptr || !is_mode(*mode)) return record(hipErrorInvalidValue);
  std::swap(*mode, thread_capture_mode());
  return hipSuccess;
}
