// Reductions over some of the warps of a block (barriers with a count of threads), in which the two
// warps of a wave of 64 lanes may be in different ones, and over the whole block beside them.
#include <cstdio>

#define CHECK(call) if ((call) != cudaSuccess) { printf("failed: %s\n", #call); return 1; }

constexpr unsigned threads = 192, rounds = 5;

__device__ unsigned count(unsigned number, unsigned members, bool holds) {
  unsigned total;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; bar.red.popc.u32 %0, %1, %2, p; }"
               : "=r"(total) : "r"(number), "r"(members), "r"((unsigned)holds) : "memory");
  return total;
}

__device__ bool all(unsigned number, unsigned members, bool holds) {
  unsigned result;
  asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %3, 0; bar.red.and.pred q, %1, %2, p;"
               " selp.u32 %0, 1, 0, q; }"
               : "=r"(result) : "r"(number), "r"(members), "r"((unsigned)holds) : "memory");
  return result != 0;
}

__device__ bool any(unsigned number, unsigned members, bool holds) {
  unsigned result;
  asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %3, 0; bar.red.or.pred q, %1, %2, p;"
               " selp.u32 %0, 1, 0, q; }"
               : "=r"(result) : "r"(number), "r"(members), "r"((unsigned)holds) : "memory");
  return result != 0;
}

// Two groups of three warps each, every other one: number 1 and 2. Each has its own rounds, and the
// results of one round decide what is counted in the next one.
__global__ void groups(unsigned* out) {
  const unsigned t = threadIdx.x, group = t / 32 % 2;
  unsigned mine = t;
  for (unsigned round = 0; round < rounds + group; ++round) {
    mine = mine * 5 + count(1 + group, 96, (mine + round) % 3 == 0);
    mine = mine * 2 + all(1 + group, 96, mine % 97 != 4 * group);
    mine = mine * 2 + any(1 + group, 96, mine % 101 == 7);
  }
  out[t] = mine;
}

// The same barrier again at once, with results that alternate: nobody gets another round's.
__global__ void repeated(unsigned* out) {
  const unsigned t = threadIdx.x, group = t / 64;
  unsigned mine = 0;
  for (unsigned round = 0; round < 20; ++round) mine = mine * 3 + count(group, 64, t % (round + 1) == 0);
  out[t] = mine;
}

// Over the whole block, around one over a part of it.
__global__ void nested(unsigned* out) {
  const unsigned t = threadIdx.x;
  unsigned mine = __syncthreads_count(t % 5 == 0);
  if (t < 96) mine = mine * 3 + count(3, 96, t % mine == 1);
  mine += 1000 * __syncthreads_count(mine % 2 == 0) + 7 * (__syncthreads_and(mine > 3) != 0);
  mine += 11 * (__syncthreads_or(t == 100 && mine % 2 == 1) != 0);
  out[t] = mine;
}

// Over the block without its first threads, which have ended, around one over a part of it.
__global__ void ended(unsigned first, unsigned* out) {
  const unsigned t = threadIdx.x;
  out[t] = 0;
  if (t < first) return;
  unsigned mine = __syncthreads_count(t % 3 == 0);
  if (t >= 96) mine += 7 * count(4, 96, t % 5 == 0);
  mine = mine * 1000 + __syncthreads_count(t % 2 == 1);
  mine = mine * 2 + (__syncthreads_and(t >= first) != 0);
  out[t] = mine * 2 + (__syncthreads_or(t < first) != 0);
}

int print(const char* name, const unsigned* given) {
  unsigned host[threads];
  CHECK(cudaMemcpy(host, given, sizeof host, cudaMemcpyDeviceToHost));
  unsigned long long sum = 0;
  for (unsigned t = 0; t < threads; ++t) sum = sum * 1000003 + host[t];
  printf("%s: %u %u %u %u %llu\n", name, host[0], host[45], host[95], host[191], sum);
  return 0;
}

int main() {
  unsigned* out;
  CHECK(cudaMalloc(&out, threads * sizeof *out));
  groups<<<1, threads>>>(out);
  if (print("groups", out)) return 1;
  repeated<<<1, threads>>>(out);
  if (print("repeated", out)) return 1;
  nested<<<1, threads>>>(out);
  if (print("nested", out)) return 1;
  for (unsigned first : {1u, 40u, 70u}) {
    ended<<<1, threads>>>(first, out);
    if (print("ended", out)) return 1;
  }
  return 0;
}
