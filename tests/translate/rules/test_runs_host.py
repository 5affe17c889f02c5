"""Translated host code does what CUDA's runtime does; expected values by hand."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>
#include <cstring>

__device__ int offset = 5;

__global__ void __launch_bounds__(128) scale(int* values, int factor, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * factor + offset;
}

__global__ void reverse(int* values) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

__global__ void say(int value) { if (threadIdx.x == 1) printf("device: %d %s\n", value, "said"); }

static int called = 0;
static void CUDART_CB callback(void* data) { called = *(int*)data; }

int main() {
  int host[64], *device; cudaStream_t stream; cudaEvent_t start, stop; float ms = -1;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&device, sizeof(host));
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreate(&start); cudaEventCreate(&stop);
  cudaEventRecord(start, stream);
  cudaMemcpyAsync(device, host, sizeof(host), cudaMemcpyHostToDevice, stream);
  scale<<<2, 32, 0, stream>>>(device, 3, 60);
  reverse<<<1, 64, 64 * sizeof(int), stream>>>(device);
  cudaMemcpyAsync(host, device, sizeof(host), cudaMemcpyDeviceToHost, stream);
  int token = 77;
  cudaLaunchHostFunc(stream, callback, &token);
  cudaEventRecord(stop, stream); cudaStreamSynchronize(stream);
  cudaEventElapsedTime(&ms, start, stop);
  printf("stream: %d %d %d %d %d\n", host[0], host[4], host[63], called, ms >= 0);

  cudaGraph_t graph; cudaGraphExec_t exec;
  cudaMemset(device, 0, sizeof(host));
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  scale<<<1, 64, 0, stream>>>(device, 2, 64);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  printf("graph: %d\n", host[9]);

  cudaPointerAttributes of;
  cudaPointerAttributes* at = &of;
  int *both, *pinned, where[3] = {-1, -1, -1};
  cudaMallocManaged(&both, 4);
  cudaMallocHost(&pinned, 4);
  if (!cudaPointerGetAttributes(&of, device)) where[0] = of.memoryType == cudaMemoryTypeDevice;
  if (!cudaPointerGetAttributes(&of, both)) where[1] = at->memoryType == cudaMemoryTypeDevice;
  if (!cudaPointerGetAttributes(at, pinned)) where[2] = (*at).type == cudaMemoryTypeHost;
  printf("memory: %d %d %d\n", where[0], where[1], where[2]);

  say<<<1, 2>>>(12); cudaDeviceSynchronize();
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 64, 0);
  printf("occupancy: %d\n", blocks > 0);
  cudaDeviceProp properties; cudaGetDeviceProperties(&properties, 0);
  printf("device_properties: %d %d\n", properties.warpSize, properties.maxThreadsPerBlock >= 1024);
  cudaError_t wrong = cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice);
  printf("error: %s\n", wrong == cudaSuccess ? "none" : cudaGetErrorName(wrong));
  printf("cudaMalloc string: cudaMalloc /* kept */\n");
}
"""


@pytest.fixture(scope="module")
def output() -> dict[str, str]:
    return output_of(SOURCE)


@pytest.mark.amd
@pytest.mark.parametrize(
    ("name", "value"),
    [
        # values[i] = 3 i + 5 below 60 and i from there, then backwards: 63, 59 * 3 + 5, 0 * 3 + 5.
        ("stream", "63 182 5 77 1"),
        # 0, 5, 15, 35: each launch doubles and adds 5.
        ("memory", "1 1 1"),
        ("graph", "35"),
        ("device", "12 said"),
        ("occupancy", "1"),
        ("device_properties", "32 1"),
        ("error", "hipErrorInvalidValue"),
        ("cudaMalloc string", "cudaMalloc /* kept */"),
    ],
)
def test_host_code(output: dict[str, str], name: str, value: str) -> None:
    assert output[name] == value


OCCUPANCY = r"""
#include <cstdio>
#include <cuda_runtime.h>
#include <cuda_occupancy.h>
int main() {
  cudaDeviceProp d = {};
  d.maxThreadsPerMultiProcessor = 2048; d.maxThreadsPerBlock = 1024; d.warpSize = 32;
  d.sharedMemPerBlock = 65536;
  d.maxSharedMemoryPerMultiProcessor = 65536;
  d.regsPerMultiprocessor = 131072;
  d.multiProcessorCount = 3;
  cudaFuncAttributes f = {};
  f.numRegs = 33; f.sharedSizeBytes = 9000; f.maxThreadsPerBlock = 1024;
  cudaOccDeviceProp device(d);
  cudaOccFuncAttributes function(f);
  cudaOccDeviceState state;
  auto blocks = [&](int size, size_t shared) {
    cudaOccResult r;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &r, &device, &function, &state, size, shared);
    return error == CUDA_OCC_SUCCESS ? r.activeBlocksPerMultiprocessor : -1;
  };
  printf("blocks: %d %d %d %d\n", blocks(256, 1000), blocks(512, 0), blocks(2000, 0),
         blocks(64, 60000));
  int grid, block;
  cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &device, &function, &state, 0);
  printf("best: %d %d\n", grid, block);
}
"""


@pytest.mark.amd
def test_occupancy_by_the_limits_of_the_device() -> None:
    assert output_of(OCCUPANCY) == {
        # 65536 / 10240 bytes of shared memory; 2048 / 512 threads; too many threads; too much
        # shared memory.
        "blocks": "6 4 0 0",
        # 2 blocks of 1024 threads on each of 3: as many threads as there can be.
        "best": "6 1024",
    }


CONFIGURED = r"""
#include <cstdio>
#include <cuda_runtime.h>
template <int N>
__global__ void fill(float* __restrict__ out, const float* in, int n, double scale) {
  cudaGridDependencySynchronize();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * scale + N;
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void nothing() {}
#define CHECK(x) if ((x) != cudaSuccess) return 1
int main() {
  float host[100], *a, *b;
  for (int i = 0; i < 100; ++i) host[i] = i;
  cudaMalloc(&a, sizeof host); cudaMalloc(&b, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaLaunchAttribute attrs[2];
  attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attrs[0].val.programmaticStreamSerializationAllowed = 1;
  attrs[1].id = cudaLaunchAttributePriority;
  attrs[1].val.priority = 0;
  cudaLaunchConfig_t config = {};
  config.numAttrs = 2; config.attrs = attrs;
  config.gridDim = dim3(4); config.blockDim = 32; config.dynamicSmemBytes = 0; config.stream = 0;
  CHECK(cudaLaunchKernelEx(&config, fill<3>, b, a, 100, 2));   // an int for a double
  CHECK(cudaLaunchKernelEx(&config, nothing));
  int n = 100; double scale = 0.5;
  void* arguments[] = {&a, &b, &n, &scale};
  CHECK(cudaLaunchKernelExC(&config, (const void*)fill<1>, arguments));
  cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 100; ++i) wrong += host[i] != (2.0f * i + 3) * 0.5f + 1;
  printf("wrong: %d\n", wrong);
}
"""


@pytest.mark.amd
def test_launches_by_a_configuration() -> None:
    """The kernel's arguments are converted to its parameters, as CUDA's template does."""
    assert output_of(CONFIGURED) == {"wrong": "0"}
