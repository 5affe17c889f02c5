#ifndef CASS_EXTERNAL_EVENTS
#define CASS_EXTERNAL_EVENTS
// Events between a captured graph and what is outside of it: nodes of the graph, where HIP 6 has no flags.
namespace cass {
constexpr unsigned int event_record_default = 0, event_record_external = 1, event_wait_external = 1;
#ifdef __HIP_PLATFORM_NVIDIA__
inline hipError_t event_record_with_flags(hipEvent_t event, hipStream_t stream, unsigned int flags = 0) {
    return hipCUDAErrorTohipError(cudaEventRecordWithFlags(event, stream, flags));
}
inline hipError_t stream_wait_event(hipStream_t stream, hipEvent_t event, unsigned int flags = 0) {
    return hipStreamWaitEvent(stream, event, flags);
}
#else
template <typename Add>
hipError_t capture_external(hipStream_t stream, hipEvent_t event, Add add) {
    hipStreamCaptureStatus status;
    hipGraph_t graph = nullptr;
    const hipGraphNode_t* after = nullptr;
    size_t count = 0;
    hipError_t result = hipStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &after, &count);
    if (result != hipSuccess) return result;
    if (status != hipStreamCaptureStatusActive) return hipErrorIllegalState;
    hipGraphNode_t node = nullptr;
    result = add(&node, graph, after, count, event);
    if (result != hipSuccess) return result;
    return hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies);
}
inline hipError_t event_record_with_flags(hipEvent_t event, hipStream_t stream, unsigned int flags = 0) {
    if (flags == event_record_default) return hipEventRecord(event, stream);
    if (flags != event_record_external) return hipErrorInvalidValue;
    return capture_external(stream, event, hipGraphAddEventRecordNode);
}
inline hipError_t stream_wait_event(hipStream_t stream, hipEvent_t event, unsigned int flags = 0) {
    if (flags != event_wait_external) return hipStreamWaitEvent(stream, event, flags);
    return capture_external(stream, event, hipGraphAddEventWaitNode);
}
#endif
}  // namespace cass
#endif
