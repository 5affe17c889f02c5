// Launches of all kinds, variables, attributes, graphs with kernels.
#include <hip/hip_runtime.h>

#include <numeric>
#include <vector>

#include "expect.hpp"

struct Weights {
  double scale;
  short offsets[3];
};

__constant__ int table[4] = {10, 20, 30, 40};
__device__ int total = 5;
__device__ __managed__ int shared_count = 3;

__global__ void apply(float* out, const float* in, Weights weights, char sign, int count) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) {
    out[index] = sign * static_cast<float>(in[index] * weights.scale + weights.offsets[index % 3]);
  }
}

__global__ void use_variables(int* out) {
  out[threadIdx.x] = table[threadIdx.x] + total;
  if (threadIdx.x == 0) atomicAdd(&shared_count, 1);
}

__global__ void reverse(int* values) {
  extern __shared__ int copy[];
  copy[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

__global__ void places(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__global__ void __launch_bounds__(64) narrow(int* out) { out[threadIdx.x] = 1; }

__global__ void increment(int* value, int by) { *value += by; }

static void arguments_by_value() {
  constexpr int count = 100;
  std::vector<float> in(count);
  std::iota(in.begin(), in.end(), 0.0f);
  std::vector<float> out(count);
  float* device_in = nullptr;
  float* device_out = nullptr;
  OK(hipMalloc(&device_in, count * 4));
  OK(hipMalloc(&device_out, count * 4));
  OK(hipMemcpy(device_in, in.data(), count * 4, hipMemcpyHostToDevice));
  const Weights weights{2.5, {1, -2, 3}};
  apply<<<4, 32>>>(device_out, device_in, weights, -1, count);
  OK(hipGetLastError());
  OK(hipMemcpy(out.data(), device_out, count * 4, hipMemcpyDeviceToHost));
  for (int index = 0; index < count; ++index) {
    EXPECT(out[index] == -static_cast<float>(index * 2.5 + weights.offsets[index % 3]));
  }
  OK(hipFree(device_in));
  OK(hipFree(device_out));
}

static void variables() {
  int* device = nullptr;
  int out[4] = {};
  OK(hipMalloc(&device, sizeof out));
  use_variables<<<1, 4>>>(device);
  OK(hipMemcpy(out, device, sizeof out, hipMemcpyDeviceToHost));
  EXPECT(out[0] == 15 && out[3] == 45 && shared_count == 4);
  const int changed[2] = {7, 8};
  OK(hipMemcpyToSymbol(HIP_SYMBOL(table), changed, sizeof changed, 4, hipMemcpyHostToDevice));
  int hundred = 100;
  void* address = nullptr;
  std::size_t size = 0;
  OK(hipGetSymbolAddress(&address, HIP_SYMBOL(total)));
  OK(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
  EXPECT(size == 16);
  OK(hipMemcpy(address, &hundred, 4, hipMemcpyHostToDevice));
  use_variables<<<1, 4>>>(device);
  OK(hipMemcpy(out, device, sizeof out, hipMemcpyDeviceToHost));
  EXPECT(out[0] == 110 && out[1] == 107 && out[2] == 108 && out[3] == 140);
  int back[4] = {};
  OK(hipMemcpyFromSymbol(back, HIP_SYMBOL(table), sizeof back, 0, hipMemcpyDeviceToHost));
  EXPECT(back[1] == 7 && back[3] == 40);
  EXPECT_HIP(hipErrorInvalidValue,
             hipMemcpyFromSymbol(back, HIP_SYMBOL(table), 17, 0, hipMemcpyDeviceToHost));
  EXPECT_HIP(hipErrorInvalidSymbol, hipGetSymbolSize(&size, &hundred));
  OK(hipFree(device));
}

static void shapes() {
  int values[64];
  std::iota(values, values + 64, 0);
  int* device = nullptr;
  OK(hipMalloc(&device, sizeof values));
  OK(hipMemcpy(device, values, sizeof values, hipMemcpyHostToDevice));
  reverse<<<1, 64, sizeof values>>>(device);
  OK(hipMemcpy(values, device, sizeof values, hipMemcpyDeviceToHost));
  EXPECT(values[0] == 63 && values[63] == 0 && values[10] == 53);
  OK(hipFree(device));

  const dim3 grid(3, 2, 2);
  const dim3 block(5, 3, 4);
  std::vector<unsigned> out(12 * 60);
  unsigned* places_out = nullptr;
  OK(hipMalloc(&places_out, out.size() * 4));
  places<<<grid, block>>>(places_out);
  OK(hipMemcpy(out.data(), places_out, out.size() * 4, hipMemcpyDeviceToHost));
  for (unsigned index = 0; index < out.size(); ++index) {
    EXPECT(out[index] == index / 60 * 1000 + index % 60);
  }
  OK(hipFree(places_out));
}

static void refused() {
  int* device = nullptr;
  OK(hipMalloc(&device, 4096));
  narrow<<<0, 64>>>(device);
  EXPECT_HIP(hipErrorInvalidConfiguration, hipGetLastError());
  narrow<<<1, 128>>>(device);  // more than its __launch_bounds__
  EXPECT_HIP(hipErrorLaunchFailure, hipGetLastError());
  reverse<<<1, 2048>>>(device);
  EXPECT_HIP(hipErrorInvalidValue, hipGetLastError());
  reverse<<<1, 64, 70000>>>(device);
  EXPECT_HIP(hipErrorInvalidValue, hipGetLastError());
  reverse<<<1u << 31, 64>>>(device);  // 2^37 work-items
  EXPECT_HIP(hipErrorInvalidConfiguration, hipGetLastError());
  int not_a_kernel = 0;
  void* none[] = {nullptr};
  EXPECT_HIP(hipErrorInvalidDeviceFunction, hipLaunchKernel(&not_a_kernel, 1, 1, none, 0, nullptr));
  EXPECT_HIP(hipErrorInvalidDeviceFunction, hipGetLastError());
  narrow<<<1, 64>>>(device);
  OK(hipGetLastError());
  OK(hipDeviceSynchronize());
  OK(hipFree(device));
}

static void attributes() {
  hipFuncAttributes found;
  OK(hipFuncGetAttributes(&found, reinterpret_cast<const void*>(narrow)));
  EXPECT(found.maxThreadsPerBlock == 64 && found.sharedSizeBytes == 0 && found.numRegs > 0);
  int blocks = 0;
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 256, 0));
  EXPECT(blocks >= 1);
  int crowded = 0;
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&crowded, reverse, 256, 60000));
  EXPECT(crowded >= 1 && crowded < blocks);
  int grid = 0;
  int block = 0;
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, narrow, 0, 0));
  EXPECT(block == 64 && grid > 0 && grid % 42 == 0);
}

static void graphs() {
  int* value = nullptr;
  int out = 0;
  OK(hipMalloc(&value, 4));
  OK(hipMemset(value, 0, 4));
  hipGraph_t graph = nullptr;
  hipGraphNode_t first = nullptr;
  hipGraphNode_t second = nullptr;
  OK(hipGraphCreate(&graph, 0));
  int by = 1;
  void* arguments[] = {&value, &by};
  hipKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(increment);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  OK(hipGraphAddKernelNode(&first, graph, nullptr, 0, &parameters));
  by = 10;
  OK(hipGraphAddKernelNode(&second, graph, &first, 1, &parameters));
  by = 5000;  // arguments are copied when the node is made
  hipGraphExec_t exec = nullptr;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipMemcpy(&out, value, 4, hipMemcpyDeviceToHost));
  EXPECT(out == 22);
  hipKernelNodeParams read{};
  OK(hipGraphKernelNodeGetParams(second, &read));
  EXPECT(read.func == reinterpret_cast<void*>(increment));
  EXPECT(*static_cast<int*>(read.kernelParams[1]) == 10);
  by = 100;
  OK(hipGraphExecKernelNodeSetParams(exec, second, &parameters));
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipMemcpy(&out, value, 4, hipMemcpyDeviceToHost));
  EXPECT(out == 123);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));

  hipStream_t stream = nullptr;
  OK(hipStreamCreate(&stream));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipMemsetAsync(value, 0, 4, stream));
  for (int round = 0; round < 4; ++round) increment<<<1, 1, 0, stream>>>(value, round);
  OK(hipStreamEndCapture(stream, &graph));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipMemcpy(&out, value, 4, hipMemcpyDeviceToHost));
  EXPECT(out == 123);
  OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  OK(hipMemcpy(&out, value, 4, hipMemcpyDeviceToHost));
  EXPECT(out == 6);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  OK(hipStreamDestroy(stream));
  OK(hipFree(value));
}

static void stream_ordered_memory() {
  hipStream_t stream = nullptr;
  OK(hipStreamCreate(&stream));
  int* value = nullptr;
  int out = 0;
  OK(hipMallocAsync(reinterpret_cast<void**>(&value), 4, stream));
  OK(hipMemsetAsync(value, 0, 4, stream));
  increment<<<1, 1, 0, stream>>>(value, 42);
  OK(hipMemcpyAsync(&out, value, 4, hipMemcpyDeviceToHost, stream));
  OK(hipFreeAsync(value, stream));
  OK(hipStreamSynchronize(stream));
  EXPECT(out == 42);
  EXPECT_HIP(hipErrorInvalidValue, hipFreeAsync(value, stream));
  OK(hipStreamDestroy(stream));
}

int main() {
  arguments_by_value();
  variables();
  shapes();
  refused();
  attributes();
  graphs();
  stream_ordered_memory();
  return report();
}
