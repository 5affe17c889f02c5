"""Four ports to HIP that are right on wavefronts of 32 lanes and wrong on 64.

Retold from what people report who move working HIP code from RDNA to MI300: each compiles for
both, and is silently wrong on one. The CUDA originals are what they were ported from; 256 threads,
inputs that no half of a wavefront can stand in for.
"""

from __future__ import annotations

_HOST = """
int main() {
  int in[256], out[256] = {}, *device_in, *device_out;
  for (int i = 0; i < 256; ++i) in[i] = i * i % 97 + 1;
  cudaMalloc(&device_in, sizeof in);
  cudaMalloc(&device_out, sizeof out);
  cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemcpy(device_out, out, sizeof out, cudaMemcpyHostToDevice);
  work<<<1, 256>>>(device_in, device_out);
  cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
  long long sum = 0;
  for (int i = 0; i < 256; ++i) sum = sum * 31 % 1000003 + out[i];
  printf("%d %d %d %lld\\n", out[0], out[40], out[255], sum);
}
"""

REDUCTION = """
__global__ void work(const int* in, int* out) {
  __shared__ int parts[32];
  int value = in[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / warpSize] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int k = 0; k < blockDim.x / warpSize; ++k) total += parts[k];
    out[0] = total;
  }
}
"""
"""On 64 lanes lane 0 has the sum of the lower half."""

BALLOT = """
__global__ void work(const int* in, int* out) {
  unsigned odd = __ballot_sync(0xffffffffu, in[threadIdx.x] & 1);
  out[threadIdx.x] = __popc(odd);
}
"""
"""``__ballot`` of 64 lanes in 32 bits counts the lower half's votes alone."""

SHUFFLE = """
__global__ void work(const int* in, int* out) {
  int lane = threadIdx.x & 31;
  out[threadIdx.x] = __shfl_sync(0xffffffffu, in[threadIdx.x], 31 - lane);
}
"""
"""Without the width 32, lanes 32 to 63 read from lanes 31 to 0."""

ARRAY = """
__global__ void work(const int* in, int* out) {
  __shared__ int parts[256 / 32];
  int value = in[threadIdx.x];
  for (int step = warpSize / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, step);
  }
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / warpSize] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int k = 0; k < 256 / 32; ++k) total += parts[k];
    out[0] = total;
  }
}
"""
"""Eight elements, of which four wavefronts of 64 write four."""

KERNELS = {"reduction": REDUCTION, "ballot": BALLOT, "shuffle": SHUFFLE, "array": ARRAY}


def cuda(name: str) -> str:
    """The original."""
    return f"#include <cstdio>\n{KERNELS[name]}{_HOST}"


def naive_hip(name: str) -> str:
    """The port: CUDA's names for HIP's, and masks left out, as renaming tools have it."""
    text = cuda(name).replace("cuda", "hip").replace("_sync(0xffffffffu, ", "(")
    return f"#include <hip/hip_runtime.h>\n{text}"
