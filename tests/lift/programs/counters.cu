// Counters of 64 bits in loops: their words are two registers of SASS, and may meet in two ways.
#include <cstdio>
#include <cuda_runtime.h>

using word = unsigned;
using wide = unsigned long long;

// Across 2^32, from a start without a high word.
__global__ void stride(word step, wide end, wide* out) {
  wide sum = 0, rounds = 0;
  for (wide i = threadIdx.x * 0x10000001u; i < end; i += step * (word)blockDim.x) {
    sum = sum * 3 + i;
    ++rounds;
  }
  out[threadIdx.x] = sum ^ rounds << 56;
}

// From one of two starts, by one of two steps, and each word is of use alone.
__global__ void meeting(wide start, wide step, int rounds, wide* out) {
  wide i = threadIdx.x & 1 ? start : threadIdx.x, other = 0;
  word low = 0, high = 0;
  for (int k = 0; k < rounds; ++k) {
    if ((i >> 34 ^ i) & 1)
      i += step;
    else
      other += i;
    low ^= (word)i;
    high += (word)(i >> 32) * (k + 1);
    i += (word)step;
  }
  out[threadIdx.x] = i + other * 5 + ((wide)high << 32 | low);
}

// Shifts by as many bits as there are zeros below, until nothing is left; beside it all amounts.
__global__ void shifts(wide seed, wide* out) {
  wide x = threadIdx.x % 5 == 4 ? 0 : seed * (2 * threadIdx.x + 1) << threadIdx.x, sum = 0;
  word amount = threadIdx.x * 7 % 97;
  for (word k = 0; x != 0 && k < 70; ++k) {
    x >>= (word)(__ffsll(x) - 1);
    sum = sum * 7 + x;
    x -= 1 | (x & 2);
  }
  const wide y = seed ^ sum;
  const wide zero = y * (threadIdx.x & 2);
  sum += amount < 64 ? (y >> amount) + (y << amount) + ((long long)y >> amount) : amount;
  out[threadIdx.x] = sum + (zero >> ((word)__ffsll(zero) & 63)) + (zero << ((word)__ffsll(zero) & 63));
}

// Rounds that halve a number that the compiler knows, and rounds whose bounds are a thread's.
__global__ void known(const word* in, wide* out) {
  __shared__ word kept[1024];
  const word lane = threadIdx.x & 31;
  word sum = in[threadIdx.x];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half) * 3;
  for (word i = lane * 8; i < 256 && i < (lane + 1) * 8; ++i) kept[i] = in[i & 63] + i;
  __syncthreads();
  out[threadIdx.x] = (wide)sum << 32 | kept[threadIdx.x * 4 & 255];
}

constexpr int n = 64;
wide result[n], *out;

void print() {
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  for (int k = 0; k < n; ++k) printf("%016llx%c", result[k], k % 4 == 3 ? '\n' : ' ');
}

int main() {
  word host[n], *in;
  for (int k = 0; k < n; ++k) host[k] = k * 2654435761u ^ k << 7;
  cudaMalloc(&out, sizeof result);
  cudaMalloc(&in, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  stride<<<1, n>>>(0x01234567, 0x380000000, out);
  print();
  meeting<<<1, n>>>(0x1fffffff0, 0xfffffff7, 40, out);
  print();
  meeting<<<1, n>>>(0xfffffffffffffff0, 0x1d2345679, 41, out);
  print();
  shifts<<<1, n>>>(0x9e3779b97f4a7c15, out);
  print();
  known<<<1, n>>>(in, out);
  print();
}
