// What goes wrong when two warps share a wave of 64 lanes and nobody minds.
#include <cstdio>

#define CHECK(call) if ((call) != cudaSuccess) { printf("failed: %s\n", #call); return 1; }

constexpr int threads = 96;  // the last wave has one warp only

__global__ void votes(unsigned* out) {
  const unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
  unsigned found = __ballot_sync(~0u, lane % (warp + 2) == 0);
  if (lane < 8 * (warp + 1)) found ^= __activemask() << 1;
  found += __shfl_xor_sync(~0u, t, 31) + __shfl_down_sync(~0u, t, 3) + __shfl_sync(~0u, warp, 9);
  found ^= __match_any_sync(~0u, t / 5) * 3;
  found += __reduce_add_sync(~0u, t) + __syncthreads_count(t % 7 == 0);
  out[t] = found;
}

// Each warp goes around its own number of times.
__global__ void loops(unsigned* out) {
  const unsigned t = threadIdx.x, warp = t / 32;
  unsigned sum = 0;
  for (unsigned round = 0; round < 3 + 2 * warp; ++round) {
    sum += __popc(__ballot_sync(~0u, (t + round) % 3 == 0)) << round;
    sum = __shfl_sync(~0u, sum, round) + (t & 1);
  }
  out[t] = sum;
}

// A lock for a warp, that its first lane takes: a warp that has it must not wait for the other.
__global__ void locked(unsigned* lock, volatile unsigned* count) {
  if (threadIdx.x % 32 == 0)
    while (atomicCAS(lock, 0u, 1u) != 0u) {
    }
  __syncwarp();
  const unsigned before = *count;
  __syncwarp();
  if (threadIdx.x % 32 == 0) *count = before + 1;
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) atomicExch(lock, 0u);
}

// Even and odd warps come to barriers of their own.
__global__ void parted(unsigned* out, unsigned rounds) {
  __shared__ unsigned words[threads];
  const unsigned t = threadIdx.x;
  unsigned mine = t;
  for (unsigned round = 0; round < rounds; ++round) {
    if (t / 32 % 2 == 0) {
      words[t] = mine * 3;
      asm volatile("bar.sync 0;" ::: "memory");
      mine += words[(t + 32) % threads];
      asm volatile("bar.sync 0;" ::: "memory");
    } else {
      words[t] = mine + 7;
      asm volatile("bar.sync 0;" ::: "memory");
      mine ^= words[(t + 40) % threads];
      asm volatile("bar.sync 0;" ::: "memory");
    }
  }
  out[t] = mine;
}

int print(const char* name, const unsigned* given) {
  unsigned host[threads];
  CHECK(cudaMemcpy(host, given, sizeof host, cudaMemcpyDeviceToHost));
  unsigned long long sum = 0;
  for (int t = 0; t < threads; ++t) sum = sum * 1000003 + host[t];
  printf("%s: %u %u %u %llu\n", name, host[0], host[45], host[95], sum);
  return 0;
}

int main() {
  unsigned *out, *lock;
  CHECK(cudaMalloc(&out, threads * sizeof *out));
  CHECK(cudaMalloc(&lock, 2 * sizeof *lock));
  CHECK(cudaMemset(lock, 0, 2 * sizeof *lock));
  votes<<<1, threads>>>(out);
  if (print("votes", out)) return 1;
  loops<<<1, threads>>>(out);
  if (print("loops", out)) return 1;
  parted<<<1, threads>>>(out, 3);
  if (print("parted", out)) return 1;
  locked<<<5, 160>>>(lock, lock + 1);
  unsigned host[2];
  CHECK(cudaMemcpy(host, lock, sizeof host, cudaMemcpyDeviceToHost));
  printf("locked: %u %u\n", host[0], host[1]);
}
