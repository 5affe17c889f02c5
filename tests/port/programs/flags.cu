// Warps that wait for a word of shared memory which another warp writes: the load of a loop whose
// address does not change has to be made each time around.

#include "expect.h"

constexpr int threads = 96;

__global__ void relay(int *out) {
  __shared__ volatile int turn;
  __shared__ volatile int sum;
  if (threadIdx.x == 0) turn = sum = 0;
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int round = 0; round < 4; ++round) {
    const int own = 3 * round + (2 - warp);  // the last warp is the first
    while (turn != own) {
    }
    if (lane == 0) {
      sum = 3 * sum + warp + 1;
      __threadfence_block();
      turn = own + 1;
    }
    __syncwarp();
  }
  while (turn != 12) {
  }
  out[threadIdx.x] = sum + lane;
}

// Counts how often it has looked, too: the loop leaves something to its next round.
__global__ void counted(int *out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  int looks = 0;
  if (threadIdx.x >= 32) {
    while (flag == 0) ++looks;
  } else {
    for (int n = 0; n < 64; ++n) __nanosleep(100);
    flag = 1;
  }
  out[threadIdx.x] = threadIdx.x < 32 || looks > 0 ? flag : -1;
}

int main() {
  int *memory, found[threads];
  GOOD(cudaMalloc(&memory, sizeof(found)));
  relay<<<1, threads>>>(memory);
  GOOD(cudaMemcpy(found, memory, sizeof(found), cudaMemcpyDeviceToHost));
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    for (int warp = 2; warp >= 0; --warp) sum = 3 * sum + warp + 1;
  }
  for (int t = 0; t < threads; ++t) EXPECT(found[t] == sum + t % 32);
  counted<<<1, threads>>>(memory);
  GOOD(cudaMemcpy(found, memory, sizeof(found), cudaMemcpyDeviceToHost));
  for (int t = 0; t < threads; ++t) EXPECT(found[t] == 1 || found[t] == -1);
  return failures != 0;
}
