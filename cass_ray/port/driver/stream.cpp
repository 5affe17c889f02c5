// Streams and events.
#include "result.hpp"

using namespace cass::cuda::driver;

FORWARD(cuStreamCreate, hipStreamCreateWithFlags, (hipStream_t * made, unsigned flags),
        (made, flags))
FORWARD(cuStreamCreateWithPriority, hipStreamCreateWithPriority,
        (hipStream_t * made, unsigned flags, int priority), (made, flags, priority))
FORWARD(cuStreamDestroy_v2, hipStreamDestroy, (hipStream_t stream), (stream))
FORWARD(cuStreamSynchronize, hipStreamSynchronize, (hipStream_t stream), (stream))
FORWARD(cuStreamQuery, hipStreamQuery, (hipStream_t stream), (stream))
FORWARD(cuStreamWaitEvent, hipStreamWaitEvent,
        (hipStream_t stream, hipEvent_t event, unsigned flags), (stream, event, flags))
FORWARD(cuLaunchHostFunc, hipLaunchHostFunc, (hipStream_t stream, hipHostFn_t function, void* data),
        (stream, function, data))

FORWARD(cuEventCreate, hipEventCreateWithFlags, (hipEvent_t * made, unsigned flags), (made, flags))
FORWARD(cuEventDestroy_v2, hipEventDestroy, (hipEvent_t event), (event))
FORWARD(cuEventRecord, hipEventRecord, (hipEvent_t event, hipStream_t stream), (event, stream))
FORWARD(cuEventSynchronize, hipEventSynchronize, (hipEvent_t event), (event))
FORWARD(cuEventQuery, hipEventQuery, (hipEvent_t event), (event))
FORWARD(cuEventElapsedTime, hipEventElapsedTime, (float* ms, hipEvent_t start, hipEvent_t end),
        (ms, start, end))
FORWARD(cuEventElapsedTime_v2, hipEventElapsedTime, (float* ms, hipEvent_t start, hipEvent_t end),
        (ms, start, end))
