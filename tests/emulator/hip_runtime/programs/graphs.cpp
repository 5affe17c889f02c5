// Graphs built by hand and by capture, with copies, fills and host nodes. No kernel needed.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "expect.hpp"

static void add_to_counter(void* counter) { ++*static_cast<int*>(counter); }

static void built_by_hand() {
  std::vector<int> from(8, 3);
  std::vector<int> to(8, 0);
  const auto bytes = from.size() * sizeof(int);
  int* memory = nullptr;
  OK(hipMalloc(reinterpret_cast<void**>(&memory), bytes));
  int launches = 0;
  hipGraph_t graph = nullptr;
  OK(hipGraphCreate(&graph, 0));
  hipGraphNode_t upload = nullptr;
  hipGraphNode_t fill = nullptr;
  hipGraphNode_t download = nullptr;
  hipGraphNode_t host = nullptr;
  // Added against their order: the edges decide.
  OK(hipGraphAddMemcpyNode1D(&download, graph, nullptr, 0, to.data(), memory, bytes,
                             hipMemcpyDeviceToHost));
  OK(hipGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, memory, from.data(), bytes,
                             hipMemcpyHostToDevice));
  hipMemsetParams zero{};
  zero.dst = memory;
  zero.elementSize = 4;
  zero.value = 9;
  zero.width = 2;
  zero.height = 1;
  OK(hipGraphAddMemsetNode(&fill, graph, &upload, 1, &zero));
  OK(hipGraphAddDependencies(graph, &fill, &download, 1));
  hipHostNodeParams call{add_to_counter, &launches};
  OK(hipGraphAddHostNode(&host, graph, &download, 1, &call));
  std::size_t count = 0;
  OK(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 4);
  hipGraphNode_t roots[4];
  count = 4;
  OK(hipGraphGetRootNodes(graph, roots, &count));
  EXPECT(count == 1 && roots[0] == upload);
  OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT(count == 3);
  hipGraphNodeType type;
  OK(hipGraphNodeGetType(fill, &type));
  EXPECT(type == hipGraphNodeTypeMemset);

  hipGraphExec_t exec = nullptr;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipStreamSynchronize(nullptr));
  EXPECT(launches == 1 && to[0] == 9 && to[1] == 9 && to[2] == 3);
  from.assign(8, 4);
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipDeviceSynchronize());
  EXPECT(launches == 2 && to[1] == 9 && to[7] == 4);

  zero.value = 5;
  OK(hipGraphExecMemsetNodeSetParams(exec, fill, &zero));
  OK(hipGraphNodeSetEnabled(exec, upload, 0));
  from.assign(8, 100);
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipDeviceSynchronize());
  EXPECT(to[1] == 5 && to[2] == 4);
  EXPECT_HIP(hipErrorInvalidValue, hipGraphNodeSetEnabled(exec, host, 0));

  hipGraph_t copy = nullptr;
  hipGraphNode_t twin = nullptr;
  OK(hipGraphClone(&copy, graph));
  OK(hipGraphNodeFindInClone(&twin, fill, copy));
  EXPECT(twin != fill);
  hipGraphNode_t child = nullptr;
  hipGraph_t outer = nullptr;
  OK(hipGraphCreate(&outer, 0));
  OK(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  hipGraphExec_t outer_exec = nullptr;
  OK(hipGraphInstantiate(&outer_exec, outer, nullptr, nullptr, 0));
  OK(hipGraphDestroy(graph));
  OK(hipGraphLaunch(outer_exec, nullptr));
  OK(hipDeviceSynchronize());
  EXPECT(launches == 4 && to[1] == 9 && to[2] == 100);
  OK(hipGraphExecDestroy(outer_exec));
  OK(hipGraphExecDestroy(exec));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphLaunch(exec, nullptr));
  OK(hipGraphDestroy(copy));
  OK(hipGraphDestroy(outer));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphDestroy(graph));
  OK(hipFree(memory));
}

static void cycles_are_refused() {
  hipGraph_t graph = nullptr;
  hipGraphNode_t first = nullptr;
  hipGraphNode_t second = nullptr;
  OK(hipGraphCreate(&graph, 0));
  OK(hipGraphAddEmptyNode(&first, graph, nullptr, 0));
  OK(hipGraphAddEmptyNode(&second, graph, &first, 1));
  EXPECT_HIP(hipErrorInvalidValue, hipGraphAddDependencies(graph, &first, &second, 1));
  OK(hipGraphAddDependencies(graph, &second, &first, 1));
  hipGraphExec_t exec = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphDestroy(graph));
}

static void captured() {
  hipStream_t stream = nullptr;
  hipStream_t side = nullptr;
  hipEvent_t fork = nullptr;
  hipEvent_t join = nullptr;
  OK(hipStreamCreate(&stream));
  OK(hipStreamCreate(&side));
  OK(hipEventCreate(&fork));
  OK(hipEventCreate(&join));
  int* pinned = nullptr;
  int* memory = nullptr;
  OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64, hipHostMallocDefault));
  OK(hipMalloc(reinterpret_cast<void**>(&memory), 64));
  int calls = 0;
  pinned[0] = 1;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipMemsetAsync(memory, 0, 64, stream));
  OK(hipEventRecord(fork, stream));
  OK(hipStreamWaitEvent(side, fork, 0));
  OK(hipLaunchHostFunc(side, add_to_counter, &calls));
  OK(hipEventRecord(join, side));
  OK(hipMemcpyAsync(pinned, memory, 64, hipMemcpyDeviceToHost, stream));
  OK(hipStreamWaitEvent(stream, join, 0));
  hipStreamCaptureStatus status;
  OK(hipStreamIsCapturing(side, &status));
  EXPECT(status == hipStreamCaptureStatusActive);
  hipGraph_t graph = nullptr;
  OK(hipStreamEndCapture(stream, &graph));
  EXPECT(calls == 0 && pinned[0] == 1);  // recorded, not run
  std::size_t count = 0;
  OK(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 3);
  hipGraphExec_t exec = nullptr;
  OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
  for (int round = 0; round < 3; ++round) OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  EXPECT(calls == 3 && pinned[0] == 0);

  hipGraph_t none = nullptr;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipErrorIllegalState, hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipErrorStreamCaptureUnsupported, hipStreamSynchronize(stream));
  EXPECT_HIP(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &none));
  EXPECT(none == nullptr);
  EXPECT_HIP(hipErrorIllegalState, hipStreamEndCapture(stream, &none));

  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipEventRecord(fork, stream));
  OK(hipStreamWaitEvent(side, fork, 0));
  OK(hipLaunchHostFunc(side, add_to_counter, &calls));
  EXPECT_HIP(hipErrorStreamCaptureUnjoined, hipStreamEndCapture(stream, &none));

  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_HIP(hipErrorStreamCaptureImplicit, hipMemset(memory, 0, 4));
  EXPECT_HIP(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &none));
  EXPECT_HIP(hipErrorStreamCaptureUnsupported,
             hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal));
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  OK(hipEventDestroy(fork));
  OK(hipEventDestroy(join));
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(side));
  OK(hipHostFree(pinned));
  OK(hipFree(memory));
}

static void user_objects() {
  int destroyed = 0;
  hipUserObject_t object = nullptr;
  hipGraph_t graph = nullptr;
  OK(hipGraphCreate(&graph, 0));
  OK(hipUserObjectCreate(&object, &destroyed, add_to_counter, 1, hipUserObjectNoDestructorSync));
  OK(hipGraphRetainUserObject(graph, object, 1, 0));
  OK(hipUserObjectRelease(object, 1));
  EXPECT(destroyed == 0);
  OK(hipGraphDestroy(graph));
  EXPECT(destroyed == 1);
  EXPECT_HIP(hipErrorInvalidValue, hipUserObjectRelease(object, 1));
}

static void memory_nodes() {
  hipGraph_t graph = nullptr;
  hipGraphNode_t allocation = nullptr;
  hipGraphNode_t fill = nullptr;
  hipGraphNode_t release = nullptr;
  OK(hipGraphCreate(&graph, 0));
  hipMemAllocNodeParams parameters{};
  parameters.bytesize = 4096;
  parameters.poolProps.allocType = hipMemAllocationTypePinned;
  OK(hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &parameters));
  hipMemsetParams ones{};
  ones.dst = parameters.dptr;
  ones.elementSize = 1;
  ones.value = 1;
  ones.width = 4096;
  ones.height = 1;
  OK(hipGraphAddMemsetNode(&fill, graph, &allocation, 1, &ones));
  OK(hipGraphAddMemFreeNode(&release, graph, &fill, 1, parameters.dptr));
  hipGraphExec_t exec = nullptr;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 0; round < 2; ++round) OK(hipGraphLaunch(exec, nullptr));
  OK(hipDeviceSynchronize());
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  EXPECT_HIP(hipErrorInvalidValue, hipMemset(parameters.dptr, 0, 1));  // gone with the graph
}

static std::atomic<bool> may_go_on;

static void wait_and_count(void* counter) {
  while (!may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ++*static_cast<std::atomic<int>*>(counter);
}

// An event that a graph records stands for its latest launch from the launch on, in children too; a
// graph that waits for its own event waits for the launch before it.
static void event_nodes(bool in_child) {
  std::atomic<int> calls = 0;
  hipEvent_t event = nullptr;
  hipStream_t stream = nullptr, side = nullptr;
  hipGraph_t graph = nullptr, outer = nullptr;
  hipGraphNode_t wait = nullptr, host = nullptr, record = nullptr, child = nullptr;
  OK(hipEventCreate(&event));
  OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&side, hipStreamNonBlocking));
  OK(hipGraphCreate(&graph, 0));
  OK(hipGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
  hipHostNodeParams call{wait_and_count, &calls};
  OK(hipGraphAddHostNode(&host, graph, &wait, 1, &call));
  OK(hipGraphAddEventRecordNode(&record, graph, &host, 1, event));
  if (in_child) {
    OK(hipGraphCreate(&outer, 0));
    OK(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  }
  hipGraphExec_t exec = nullptr;
  OK(hipGraphInstantiate(&exec, in_child ? outer : graph, nullptr, nullptr, 0));
  for (int round = 1; round <= 3; ++round) {
    may_go_on = false;
    OK(hipGraphLaunch(exec, stream));
    EXPECT(hipEventQuery(event) == hipErrorNotReady);
    OK(hipStreamWaitEvent(side, event, 0));
    EXPECT(hipStreamQuery(side) == hipErrorNotReady);
    may_go_on = true;
    if (round == 2) {
      OK(hipStreamSynchronize(side));
    } else {
      OK(hipEventSynchronize(event));
    }
    EXPECT(calls == round);
  }
  OK(hipStreamSynchronize(stream));
  OK(hipEventRecord(event, stream));
  OK(hipEventSynchronize(event));
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  if (in_child) OK(hipGraphDestroy(outer));
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(side));
  OK(hipEventDestroy(event));
}

int main() {
  built_by_hand();
  cycles_are_refused();
  captured();
  user_objects();
  memory_nodes();
  event_nodes(false);
  event_nodes(true);
  return report();
}
