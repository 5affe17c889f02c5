#include <cooperative_groups.h>

#include "expect.h"

__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }

__global__ void grid_sum(int* parts, int* total) {
  parts[blockIdx.x] = blockIdx.x + 1;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0) {
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += parts[block];
    *total = sum;
  }
}

__global__ void ask(int* out) {
  const auto grid = cooperative_groups::this_grid();
  if (grid.thread_rank() == 0) *out = grid.is_valid() ? 2 : 1;
}

static int* memory() {
  int* made;
  GOOD(cudaMalloc(&made, 64 * sizeof(int)));
  return made;
}

static int first_of(const int* device) {
  int value = 0;
  GOOD(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

static void called(cudaStream_t, cudaError_t status, void* data) {
  *static_cast<int*>(data) = status == cudaSuccess ? 11 : -1;
}

static void streams() {
  cudaStream_t first, second;
  cudaEvent_t start, stop;
  GOOD(cudaStreamCreate(&first));
  GOOD(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  GOOD(cudaEventCreate(&start));
  GOOD(cudaEventCreate(&stop));
  int* device = memory();
  GOOD(cudaEventRecord(start, first));
  fill<<<1, 64, 0, first>>>(device, 3);
  GOOD(cudaEventRecord(stop, first));
  GOOD(cudaStreamWaitEvent(second, stop));
  fill<<<1, 64, 0, second>>>(device, 4);
  int seen = 0;
  GOOD(cudaStreamAddCallback(second, called, &seen, 0));
  GOOD(cudaStreamSynchronize(second));
  EXPECT(first_of(device) == 4 && seen == 11);
  float milliseconds = -1;
  GOOD(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0);
  GOOD(cudaStreamQuery(first));
  GOOD(cudaEventDestroy(start));
  GOOD(cudaEventDestroy(stop));
  GOOD(cudaStreamDestroy(first));
  GOOD(cudaStreamDestroy(second));
  GOOD(cudaFree(device));
}

static void graphs() {
  int* device = memory();
  int value = 21;
  cudaGraph_t graph;
  cudaGraphNode_t cleared, filled;
  GOOD(cudaGraphCreate(&graph, 0));
  cudaMemsetParams clear = {};
  clear.dst = device;
  clear.elementSize = 4;
  clear.width = 64;
  clear.height = 1;
  GOOD(cudaGraphAddMemsetNode(&cleared, graph, nullptr, 0, &clear));
  void* arguments[] = {&device, &value};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(fill);
  launch.gridDim = 1;
  launch.blockDim = 32;
  launch.kernelParams = arguments;
  GOOD(cudaGraphAddKernelNode(&filled, graph, &cleared, 1, &launch));
  std::size_t nodes = 0;
  GOOD(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  cudaGraphExec_t ready;
  GOOD(cudaGraphInstantiate(&ready, graph, 0));
  GOOD(cudaMemset(device, 1, 64 * sizeof(int)));
  GOOD(cudaGraphLaunch(ready, 0));
  GOOD(cudaDeviceSynchronize());
  int host[64];
  GOOD(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 21 && host[31] == 21 && host[32] == 0 && host[63] == 0);
  GOOD(cudaGraphExecDestroy(ready));
  GOOD(cudaGraphDestroy(graph));

  cudaStream_t stream;
  GOOD(cudaStreamCreate(&stream));
  GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<<<1, 64, 0, stream>>>(device, 9);
  GOOD(cudaStreamEndCapture(stream, &graph));
  EXPECT(first_of(device) == 21);
  GOOD(cudaGraphInstantiate(&ready, graph, 0));
  GOOD(cudaGraphLaunch(ready, stream));
  GOOD(cudaStreamSynchronize(stream));
  EXPECT(first_of(device) == 9);
  GOOD(cudaFree(device));
}

static void cooperative() {
  int *parts = memory(), *total = memory();
  void* arguments[] = {&parts, &total};
  GOOD(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sum), 8, 32, arguments));
  GOOD(cudaDeviceSynchronize());
  EXPECT(first_of(total) == 36);
  // A grid can be synchronized where its launch says so, and nowhere else.
  ask<<<8, 32>>>(parts);
  EXPECT(first_of(parts) == 1);
  GOOD(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(ask), 8, 32, arguments));
  EXPECT(first_of(parts) == 2);
  cudaLaunchConfig_t given = {};
  given.gridDim = 4;
  given.blockDim = 32;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeCooperative;
  attribute[0].val.cooperative = 1;
  given.attrs = attribute;
  given.numAttrs = 1;
  GOOD(cudaLaunchKernelEx(&given, grid_sum, parts, total));
  EXPECT(first_of(total) == 10);
}

static void facts() {
  int devices = 0, warp = 0, major = 0;
  GOOD(cudaGetDeviceCount(&devices));
  EXPECT(devices == 1);
  GOOD(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
  GOOD(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  cudaDeviceProp properties;
  GOOD(cudaGetDeviceProperties(&properties, 0));
  EXPECT(warp == 32 && properties.warpSize == 32);
  EXPECT(major == 8 && properties.major == 8 && properties.minor == 0);
  EXPECT(properties.maxThreadsPerBlock == 1024 && properties.maxThreadsDim[0] == 1024);
  EXPECT(properties.maxGridSize[0] == 2147483647 && properties.multiProcessorCount > 0);
  EXPECT(properties.sharedMemPerBlock == 65536 && properties.managedMemory == 1);
  EXPECT(properties.reserved[55] == 0);
  cudaFuncAttributes attributes;
  GOOD(cudaFuncGetAttributes(&attributes, fill));
  EXPECT(attributes.maxThreadsPerBlock == 1024 && attributes.sharedSizeBytes == 0);
  EXPECT(attributes.numRegs > 0);
  int blocks = 0;
  GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 0));
  EXPECT(blocks > 0);
  int version = 0;
  GOOD(cudaRuntimeGetVersion(&version));
  EXPECT(version / 1000 == CUDART_VERSION / 1000);
}

static void errors() {
  fill<<<1, 4096>>>(nullptr, 0);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);  // as on an H200, with CUDA 13
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaSetDevice(7) == cudaErrorInvalidDevice);
  GOOD(cudaFree(nullptr));  // a success does not hide the error before it
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  std::printf("%s: %s\n", cudaGetErrorName(cudaErrorInvalidConfiguration),
              cudaGetErrorString(cudaErrorInvalidConfiguration));
}

int main() {
  streams();
  graphs();
  cooperative();
  facts();
  errors();
  return failures;
}
