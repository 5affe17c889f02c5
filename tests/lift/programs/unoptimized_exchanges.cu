// Lanes of two branches that exchange as one, in code that ptxas has not optimized: functions save
// convergence barriers for their callers, and lanes leave regions at which others then meet.
#include <cstdio>

using word = unsigned;

constexpr word threads = 64, words = 1;

// An exchange of the lanes of a mask, in both branches; its region is over before the next one's.
__device__ __noinline__ word exchanged(word mask, word value, word distance) {
  for (word round = 0; round < 2; ++round) {
    if (value & 1) {
      value = __shfl_xor_sync(mask, value * 3, distance);
    } else {
      value = __shfl_xor_sync(mask, value * 5, distance) + 1;
    }
  }
  return value;
}

// In front of the slow path of a division lanes leave a region, while those whose dividend is
// nothing go on in it; they come to the barrier's next region, in fmod, before anyone waits.
__global__ void quotients(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  const word found = exchanged(~0u, t, 3);
  double rest = lane % 4 < 2 ? 0 : found;
  for (word round = 0; round <= lane % 5; ++round) rest = fmod(rest / 3, 64.0);
  out[t] = word(rest * 16) + __popc(__ballot_sync(~0u, lane % 5 == 3));
}

// Odd lanes go through the function's regions, while even ones wait for them at the kernel's.
__global__ void called(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word sum = t;
  for (word round = 1; round < 4; ++round) {
    if (lane & 1) {
      sum += exchanged(0xaaaaaaaa, sum + lane / 2, 2 * round);
    } else if (round == lane % 8 / 2) {
      sum += 7;
    }
    sum += __shfl_xor_sync(~0u, sum, 5);
  }
  out[t] = sum;
}

__device__ __noinline__ word tripled(word value) { return value * 3; }

// The lanes of a case go on to the next one's, for which others wait; the rest leaves the region.
__global__ void cases(word* out) {
  const word t = threadIdx.x, lane = t % 32;
  word sum = t;
  for (word round = 0; round < 4; ++round) {
    switch ((lane + round) % 4) {
      case 0:
        sum += 100;
        break;
      case 1:
        sum += exchanged(0x11111111u << (5 - round) % 4, sum, 8);
        // falls through
      case 2:
        sum = tripled(sum) + 1;
        break;
      default:
        sum += sum % 16;
    }
    sum += __shfl_xor_sync(~0u, sum, 1) % 8;
  }
  out[t] = sum;
}

word host[threads * words], *out;

void show(const char* name, void (*kernel)(word*)) {
  cudaMemset(out, 0, sizeof host);
  kernel<<<1, threads>>>(out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s %d:", name, (int)error);
  for (word each : host) printf(" %u", each);
  printf("\n");
}

#define SHOW(name) show(#name, name)

int main() {
  cudaMalloc(&out, sizeof host);
  SHOW(quotients);
  SHOW(called);
  SHOW(cases);
}
