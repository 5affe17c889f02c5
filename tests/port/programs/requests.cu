// What launches, captures and the device are asked for beside the work itself. Expected is what the
// CUDA runtime API says of the calls.
#include <atomic>
#include <chrono>
#include <thread>

#include "expect.h"

__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }
__global__ void in_blocks(int* out) {
  extern __shared__ int words[];
  words[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = words[threadIdx.x];
}

constexpr int count = 64;
static int *memory, host[count];

static std::atomic<bool> may_go_on;

// What is behind it in its stream does not begin before the program says so.
static void wait_and_count(void* data) {
  do std::this_thread::sleep_for(std::chrono::milliseconds(20));
  while (!may_go_on);
  ++*static_cast<volatile int*>(data);
}

static cudaStream_t stream() {
  cudaStream_t made;
  GOOD(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  return made;
}

static cudaEvent_t event() {
  cudaEvent_t made;
  GOOD(cudaEventCreate(&made));
  return made;
}

// The event of a launch stands for it: another stream that waits for it has the kernel's results.
static void events_of_launches() {
  const auto first = stream(), second = stream();
  cudaEvent_t ended;
  GOOD(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
  for (const auto kind : {cudaLaunchAttributeProgrammaticEvent, cudaLaunchAttributeLaunchCompletionEvent}) {
    const int value = 10 + kind;
    volatile int calls = 0;
    may_go_on = false;
    cudaLaunchAttribute attribute{};
    attribute.id = kind;
    if (kind == cudaLaunchAttributeProgrammaticEvent) attribute.val.programmaticEvent.event = ended;
    if (kind == cudaLaunchAttributeLaunchCompletionEvent) attribute.val.launchCompletionEvent.event = ended;
    cudaLaunchConfig_t given{};
    given.gridDim = 1;
    given.blockDim = count;
    given.stream = first;
    given.attrs = &attribute;
    given.numAttrs = 1;
    GOOD(cudaLaunchHostFunc(first, wait_and_count, const_cast<int*>(&calls)));
    GOOD(cudaLaunchKernelEx(&given, fill, memory, value));
    EXPECT(cudaEventQuery(ended) == cudaErrorNotReady);
    GOOD(cudaStreamWaitEvent(second, ended));
    may_go_on = true;
    GOOD(cudaStreamSynchronize(second));
    EXPECT(calls == 1);  // without the event the second stream would wait for nothing
    GOOD(cudaStreamSynchronize(first));
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
  cudaLaunchConfig_t given{};
  given.gridDim = given.blockDim = 1;
  given.attrs = &attribute;
  given.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&given, fill, memory, 0) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
}

// Events that a graph has in common with what is outside: each launch waits for one, and records others.
static void events_of_graphs() {
  const auto side = stream(), own = stream();
  const auto before = event(), start = event(), end = event();
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  volatile int calls = 0;
  GOOD(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal));
  GOOD(cudaStreamWaitEvent(own, before, cudaEventWaitExternal));
  GOOD(cudaEventRecordWithFlags(start, own, cudaEventRecordExternal));
  GOOD(cudaLaunchHostFunc(own, wait_and_count, const_cast<int*>(&calls)));
  fill<<<1, count, 0, own>>>(memory, 7);
  GOOD(cudaEventRecordWithFlags(end, own, cudaEventRecordExternal));
  GOOD(cudaStreamEndCapture(own, &graph));
  std::size_t nodes = 0;
  GOOD(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 5);
  GOOD(cudaGraphInstantiate(&ready, graph, 0));
  for (int round = 1; round <= 2; ++round) {
    calls = 0;
    may_go_on = false;
    GOOD(cudaLaunchHostFunc(side, wait_and_count, const_cast<int*>(&calls)));
    GOOD(cudaEventRecord(before, side));
    GOOD(cudaGraphLaunch(ready, own));
    EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
    may_go_on = true;
    GOOD(cudaEventSynchronize(start));
    EXPECT(calls >= 1);
    GOOD(cudaStreamWaitEvent(side, end));
    GOOD(cudaStreamSynchronize(side));
    EXPECT(calls == 2);
    GOOD(cudaEventSynchronize(end));
    float milliseconds = 0;
    GOOD(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds >= 19);
  }
  EXPECT(cudaEventRecordWithFlags(end, own, cudaEventRecordExternal) == cudaErrorIllegalState);
  EXPECT(cudaStreamWaitEvent(own, end, cudaEventWaitExternal) == cudaErrorIllegalState);
  EXPECT(cudaGetLastError() == cudaErrorIllegalState);
  GOOD(cudaEventRecordWithFlags(end, own, cudaEventRecordDefault));
}

static void room() {
  int most = 0, more = 0;
  cudaDeviceProp properties;
  GOOD(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  GOOD(cudaDeviceGetAttribute(&more, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  GOOD(cudaGetDeviceProperties(&properties, 0));
  EXPECT(more >= most && static_cast<int>(properties.sharedMemPerBlockOptin) == more);
  GOOD(cudaFuncSetAttribute(in_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, more));
  in_blocks<<<1, count, more>>>(memory);
  GOOD(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[count - 1] == count - 1);
  EXPECT(cudaFuncSetAttribute(in_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, more + 1) ==
         cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  std::size_t bytes = 0;
  GOOD(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
  GOOD(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
  EXPECT(bytes == 1 << 22);
}

int main() {
  GOOD(cudaMalloc(&memory, sizeof host));
  events_of_launches();
  events_of_graphs();
  room();
  return failures;
}
