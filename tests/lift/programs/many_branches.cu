// Kernels of hundreds of branches, each checked against the same steps on the host: one line for
// each, with how many results differ. HIP's compiler gets the host's part alone: it takes minutes
// for the kernels.
#include <cstdio>
#include <cstring>

const int THREADS = 96, WORDS = 4096, ROUNDS = 5;

#define TEN(M, i) \
  M((i) * 10)     \
  M((i) * 10 + 1) \
  M((i) * 10 + 2) \
  M((i) * 10 + 3) \
  M((i) * 10 + 4) M((i) * 10 + 5) M((i) * 10 + 6) M((i) * 10 + 7) M((i) * 10 + 8) M((i) * 10 + 9)
#define HUNDRED(M, i)                                                                 \
  TEN(M, (i) * 10)                                                                    \
  TEN(M, (i) * 10 + 1)                                                                \
  TEN(M, (i) * 10 + 2)                                                                \
  TEN(M, (i) * 10 + 3)                                                                \
  TEN(M, (i) * 10 + 4)                                                                \
  TEN(M, (i) * 10 + 5) TEN(M, (i) * 10 + 6) TEN(M, (i) * 10 + 7) TEN(M, (i) * 10 + 8) \
      TEN(M, (i) * 10 + 9)

__host__ __device__ inline unsigned mixed(unsigned x, unsigned i) {
  return (x ^ (i * 2654435761u)) * 16777619u + i;
}

// What a thread does: `own` are its words.
#define GUARDED(i)                \
  if (mixed(x, i) >> 28 & 1) {    \
    own[x >> 5 & 31] = x;         \
    x = x * 5 + own[x >> 9 & 31]; \
  }
__host__ __device__ unsigned guarded(unsigned* own, unsigned x) {
  HUNDRED(GUARDED, 1) HUNDRED(GUARDED, 2) return x;
}

#define LEAVING(i)                     \
  own[x >> 5 & 31] += x;               \
  x = mixed(x, i) + own[x >> 11 & 31]; \
  if (x % 701 == 3) break;             \
  if (x % 89 == 5) continue;           \
  if (x % 4001 == 7) return x;         \
  while (x % 23 == 11) {               \
    x = mixed(x, own[x & 31]);         \
    own[x >> 7 & 31]++;                \
  }
__host__ __device__ unsigned leaving(unsigned* own, unsigned x) {
  for (int outer = 0; outer < 3; ++outer) {
    for (int round = 0; round < ROUNDS; ++round) {
      TEN(LEAVING, 1) TEN(LEAVING, 2) TEN(LEAVING, 3) TEN(LEAVING, 4) x ^= 77;
    }
    own[outer] ^= x;
  }
  return x;
}

#define CASE(i)                                \
  case i:                                      \
    own[x >> 9 & 31] = x + i;                  \
    x = x * (2 * (i) + 3) + own[x >> 14 & 31]; \
    if (x & 64) own[x & 31] ^= x;              \
    break;
__host__ __device__ unsigned cases(unsigned* own, unsigned x) {
  for (int round = 0; round < 12; ++round) {
    switch (mixed(x, round) >> 5 & 255) {
      HUNDRED(CASE, 0) TEN(CASE, 11) TEN(CASE, 12) default : x += 12345;
      own[round & 31]++;
    }
  }
  return x;
}

// A function that calls itself, in the middle of its branches, and ends threads.
#define DEEPER(i)                            \
  own[x >> 5 & 31] += x;                     \
  x = mixed(x, i) + own[x >> 11 & 31];       \
  if (x % 31 == 3) own[x >> 3 & 31] = depth; \
  if (x % 997 == 5) return x;
__host__ __device__ __noinline__ unsigned deeper(unsigned* own, unsigned x, int depth) {
  TEN(DEEPER, 1)
  TEN(DEEPER, 2) TEN(DEEPER, 3) if (depth > 0 && x & 1) x += deeper(own, x >> 1, depth - 1);
  TEN(DEEPER, 4) TEN(DEEPER, 5) if (depth > 0) x ^= deeper(own, x + 7, depth - 2);
  TEN(DEEPER, 6) TEN(DEEPER, 7) return x;
}

__global__ void run(int which, unsigned* words, unsigned* left) {
#ifndef __HIP_DEVICE_COMPILE__
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= THREADS - 3) return;
  unsigned* own = words + 32 * t;
  if (which == 0) left[t] = guarded(own, t * 40503u + 1);
  if (which == 1) left[t] = leaving(own, t * 40503u + 2);
  if (which == 2) left[t] = cases(own, t * 40503u + 3);
  if (which == 3) left[t] = deeper(own, t * 40503u + 4, t % 6);
#endif
}

// Lanes that go different ways through a round meet at its end, whatever piece they are in.
#define STEP(i)                        \
  own[x >> 5 & 31] += x;               \
  x = mixed(x, i) + own[x >> 11 & 31]; \
  if (x % 13 == 3)                     \
    own[x >> 3 & 31] = x;              \
  else if (x % 13 == 5)                \
    x ^= own[x >> 8 & 31];             \
  if (x % 301 == 7) goto met;
__host__ __device__ inline unsigned stepped(unsigned* own, unsigned x) {
  HUNDRED(STEP, 1)
met:
  return x;
}

__global__ void meeting(unsigned* words, unsigned* left) {
#ifndef __HIP_DEVICE_COMPILE__
  __shared__ unsigned shown[32];
  unsigned* own = words + 32 * threadIdx.x;
  unsigned x = threadIdx.x * 40503u + 5;
  for (int round = 0; round < ROUNDS; ++round) {
    x = stepped(own, x);
    x += __shfl_xor_sync(~0u, x, 1);
    shown[threadIdx.x] = x;
    __syncthreads();
    x ^= shown[(threadIdx.x + 5) % 32] + __popc(__ballot_sync(~0u, x & 1));
    __syncthreads();
  }
  left[threadIdx.x] = x;
#endif
}

void meeting_on_host(unsigned* words, unsigned* left) {
  unsigned x[32], sum[32];
  for (int t = 0; t < 32; ++t) x[t] = t * 40503u + 5;
  for (int round = 0; round < ROUNDS; ++round) {
    unsigned odd = 0;
    for (int t = 0; t < 32; ++t) x[t] = stepped(words + 32 * t, x[t]);
    for (int t = 0; t < 32; ++t) sum[t] = x[t] + x[t ^ 1];
    for (int t = 0; t < 32; ++t) odd += sum[t] & 1;
    for (int t = 0; t < 32; ++t) x[t] = sum[t] ^ (sum[(t + 5) % 32] + odd);
  }
  for (int t = 0; t < 32; ++t) left[t] = x[t];
}

int main() {
  static unsigned words[WORDS], left[THREADS], found_words[WORDS], found_left[THREADS];
  unsigned *on_device, *left_there;
  cudaMalloc(&on_device, sizeof words);
  cudaMalloc(&left_there, sizeof left);
  const char* names[] = {"guarded", "leaving", "cases", "deeper", "meeting"};
  for (int which = 0; which < 5; ++which) {
    for (int k = 0; k < WORDS; ++k) words[k] = mixed(k, which);
    memset(left, 0, sizeof left);
    cudaMemcpy(on_device, words, sizeof words, cudaMemcpyHostToDevice);
    cudaMemset(left_there, 0, sizeof left);
    if (which == 4) {
      meeting<<<1, 32>>>(on_device, left_there);
      meeting_on_host(words, left);
    } else {
      run<<<2, THREADS / 2>>>(which, on_device, left_there);
      for (int t = 0; t < THREADS - 3; ++t) {
        unsigned* own = words + 32 * t;
        if (which == 0) left[t] = guarded(own, t * 40503u + 1);
        if (which == 1) left[t] = leaving(own, t * 40503u + 2);
        if (which == 2) left[t] = cases(own, t * 40503u + 3);
        if (which == 3) left[t] = deeper(own, t * 40503u + 4, t % 6);
      }
    }
    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(found_words, on_device, sizeof words, cudaMemcpyDeviceToHost);
    cudaMemcpy(found_left, left_there, sizeof left, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int k = 0; k < WORDS; ++k) wrong += words[k] != found_words[k];
    for (int t = 0; t < THREADS; ++t) wrong += left[t] != found_left[t];
    printf("%s: %d wrong, error %d\n", names[which], wrong, error);
  }
  return 0;
}
