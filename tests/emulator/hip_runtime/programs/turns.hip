// Two waves without a barrier: each says that it was there, and after a fence looks for the other
// one; then both count in a loop, and write how far the other one is. As a card runs them together
// each finds the other one; run one after another the first does not.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void look(int* found, int* ahead) {
  __shared__ volatile int there[2], count[2];
  const int wave = threadIdx.x / 64;
  if (threadIdx.x < 2) there[threadIdx.x] = count[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x % 64 == 0) there[wave] = 1;
  __threadfence();
  if (threadIdx.x % 64 == 0) found[wave] = there[1 - wave];
  __syncthreads();
  int most = 0;
  for (int k = 1; k <= 100; ++k) {
    if (threadIdx.x % 64 == 0) count[wave] = k;
    const int distance = count[wave] - count[1 - wave];
    most = max(most, max(distance, -distance));
  }
  if (threadIdx.x % 64 == 0) ahead[wave] = most;
}

int main() {
  int *device, host[4];
  if (hipMalloc(&device, sizeof host) != hipSuccess) return 1;
  look<<<1, 128>>>(device, device + 2);
  if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("found %d %d, ahead by %s\n", host[0], host[1],
              max(host[2], host[3]) <= 2 ? "at most 2" : "more");
}
