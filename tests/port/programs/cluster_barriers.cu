// What blocks of a cluster tell each other: barriers of the cluster whose arrivals are apart from
// their waits, barrier objects in another block's shared memory, asynchronous stores, bulk copies to
// another block and to several. Prints what is found; each number is worked out by hand beside it.
#include <cstdint>
#include <cstdio>

#define CHECK(call)                                               \
  do {                                                            \
    const cudaError_t result = (call);                            \
    if (result != cudaSuccess) {                                  \
      std::printf("%s: %s\n", #call, cudaGetErrorString(result)); \
      return 1;                                                   \
    }                                                             \
  } while (false)

__device__ uint32_t shared(const void *pointer) { return (uint32_t)__cvta_generic_to_shared(pointer); }

__device__ uint32_t rank() {
  uint32_t found;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(found));
  return found;
}

// The same place in another block's shared memory.
__device__ uint32_t in_block(uint32_t address, uint32_t block) {
  uint32_t found;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(found) : "r"(address), "r"(block));
  return found;
}

__device__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

__device__ void init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

__device__ void expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

__device__ void arrive_at(uint32_t bar) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
}

__device__ void wait_for(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again;\n}" ::"r"(bar), "r"(parity) : "memory");
}

// Words that go around the ring of four blocks by `st.shared::cluster`; each block arrives, goes on
// with barriers of its own, and waits later.
__global__ void __cluster_dims__(4, 1, 1) ring(int *out) {
  __shared__ int got[64], own[64];
  const uint32_t there = in_block(shared(&got[threadIdx.x]), (rank() + 1) % 4);
  arrive();
  own[threadIdx.x] = 100 * rank() + threadIdx.x;
  __syncthreads();
  const int mirrored = own[63 - threadIdx.x];
  wait();
  for (int step = 0; step < 3; ++step) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(mirrored + step) : "memory");
    arrive();
    wait();
    out[(step * 4 + blockIdx.x) * 64 + threadIdx.x] = got[threadIdx.x];
    arrive();
    wait();
  }
}

// All threads of block 1 but those of its last warp end at once: no barrier waits for them.
__global__ void __cluster_dims__(2, 1, 1) ending(int *out) {
  __shared__ int got[96];
  if (rank() == 1 && threadIdx.x < 64) return;
  got[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (rank() == 1) out[threadIdx.x - 64] = got[95 + 64 - threadIdx.x];
  arrive();
  wait();
  if (rank() == 0) out[32 + threadIdx.x] = got[95 - threadIdx.x];
}

// Blocks whose threads fill no warp: of the other block the thread on the other side.
__global__ void __cluster_dims__(2, 1, 1) odd(int *out) {
  __shared__ int got[35];
  const int thread = threadIdx.x + 7 * threadIdx.y, block = blockIdx.x + 2 * blockIdx.y;
  const uint32_t there = in_block(shared(&got[34 - thread]), rank() ^ 1);
  const int all = __syncthreads_count(1);
  const int sent = 1000 * block + 100 * threadIdx.y + threadIdx.x + 10000 * all;
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(sent) : "memory");
  arrive();
  wait();
  out[35 * block + thread] = got[thread];
}

// Producers in all four blocks arrive at the consumer's barrier in block 0, which frees them through
// theirs: three rounds.
__global__ void __cluster_dims__(4, 1, 1) handshake(int *out) {
  __shared__ __align__(8) uint64_t full, empty;
  __shared__ int box[4];
  const uint32_t filled = in_block(shared(&full), 0), place = in_block(shared(box) + 4 * rank(), 0);
  if (threadIdx.x == 0) {
    init(shared(&full), 4);
    init(shared(&empty), 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  arrive();
  wait();
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) {
      const int sent = 10 * round + rank();
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(place), "r"(sent) : "memory");
      arrive_at(filled);
    }
    if (rank() == 0 && threadIdx.x == 32) {
      wait_for(shared(&full), round % 2);
      int sum = 0;
      for (int block = 0; block < 4; ++block) sum = 100 * sum + ((volatile int *)box)[block];
      out[round] = sum;
      for (uint32_t block = 0; block < 4; ++block) arrive_at(in_block(shared(&empty), block));
    }
    wait_for(shared(&empty), round % 2);
  }
  arrive();
  wait();
}

// Each block sends to the other one, which waits for the bytes: words and pairs of words stored one
// by one, sums, and a bulk copy.
__global__ void __cluster_dims__(2, 1, 1) stores(int *out) {
  __shared__ __align__(16) int got[64], copied[32], own[32];
  __shared__ __align__(8) uint64_t bar;
  const uint32_t other = rank() ^ 1, there = in_block(shared(got), other);
  const uint32_t signal = in_block(shared(&bar), other);
  own[threadIdx.x] = 1000 * rank() + threadIdx.x;
  got[threadIdx.x] = got[threadIdx.x + 32] = 7;
  if (threadIdx.x == 0) {
    init(shared(&bar), 1);
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
    expect(shared(&bar), 32 * 4 + 4 * 8 + 16 + 2 * 4 + 128);
  }
  __syncthreads();
  arrive();
  wait();
  const int word = 100 * rank() + threadIdx.x;
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
               ::"r"(there + 4 * threadIdx.x), "r"(word), "r"(signal) : "memory");
  if (threadIdx.x < 4) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];"
                 ::"r"(there + 128 + 8 * threadIdx.x), "l"((uint64_t)word << 32 | 5), "r"(signal)
                 : "memory");
  }
  if (threadIdx.x == 4) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1,%2,%3,%4}, [%5];"
                 ::"r"(there + 160), "r"(word), "r"(word + 1), "r"(word + 2), "r"(word + 3), "r"(signal)
                 : "memory");
  }
  if (threadIdx.x == 5 || threadIdx.x == 6) {
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
                 ::"r"(there + 176), "r"(word), "r"(signal) : "memory");
  }
  if (threadIdx.x == 7) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                 ::"r"(in_block(shared(copied), other)), "r"(shared(own)), "r"(signal) : "memory");
  }
  wait_for(shared(&bar), 0);
  int *const to = out + 128 * rank();
  to[threadIdx.x] = got[threadIdx.x];
  to[32 + threadIdx.x] = got[32 + threadIdx.x];
  to[64 + threadIdx.x] = copied[threadIdx.x];
  arrive();
  wait();
}

// Block 1 loads for blocks 0, 1 and 3 (mask 11), block 2 for itself and 3 (mask 12).
__global__ void __cluster_dims__(4, 1, 1) multicast(const int *in, int *out) {
  __shared__ __align__(128) int first[32], second[32];
  __shared__ __align__(8) uint64_t bar;
  const uint32_t block = rank();
  first[threadIdx.x] = second[threadIdx.x] = -1;
  if (threadIdx.x == 0) {
    init(shared(&bar), 1);
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
    expect(shared(&bar), 128 * ((11 >> block & 1) + (12 >> block & 1)));
  }
  __syncthreads();
  arrive();
  wait();
  if (threadIdx.x == 0 && block == 1) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 128, [%2], %3;" ::"r"(shared(first)), "l"(in), "r"(shared(&bar)), "h"((uint16_t)11)
        : "memory");
  }
  if (threadIdx.x == 0 && block == 2) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 128, [%2], %3;" ::"r"(shared(second)), "l"(in + 32), "r"(shared(&bar)),
        "h"((uint16_t)12)
        : "memory");
  }
  wait_for(shared(&bar), 0);
  out[64 * block + threadIdx.x] = first[threadIdx.x];
  out[64 * block + 32 + threadIdx.x] = second[threadIdx.x];
  arrive();
  wait();
}

// Of generic addresses: whether they are of the block's own shared memory, and of the cluster's.
__global__ void __cluster_dims__(2, 1, 1) spaces(int *out) {
  __shared__ int word;
  uint64_t other;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(&word), "r"(rank() ^ 1));
  const uint64_t own = (uint64_t)&word, global = (uint64_t)out;
  word = 5 + rank();
  arrive();
  wait();
  int found = 0;
  for (const uint64_t address : {own, other, global}) {
    int is_own, is_of_cluster;
    asm volatile("{.reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is_own) : "l"(address));
    asm volatile("{.reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is_of_cluster) : "l"(address));
    found = 4 * found + 2 * is_of_cluster + is_own;
  }
  out[2 * rank()] = found;
  out[2 * rank() + 1] = *(volatile int *)other;
  arrive();
  wait();
}

template <class Wanted>
void compare(const char *name, const int *found, int count, Wanted wanted) {
  int wrong = 0;
  long long sum = 0;
  for (int n = 0; n < count; ++n) {
    if (found[n] != wanted(n) && wrong++ < 4) std::printf("%s[%d]: %d, not %d\n", name, n, found[n], wanted(n));
    sum += (n % 7 + 1) * (long long)found[n];
  }
  std::printf("%s: %lld, %d wrong\n", name, sum, wrong);
}

int main() {
  static int found[1024];
  int *out, *in;
  CHECK(cudaMalloc(&out, sizeof found));
  CHECK(cudaMalloc(&in, 64 * sizeof(int)));
#define RUN(...)                                                              \
  CHECK(cudaMemset(out, 0, sizeof found));                                    \
  __VA_ARGS__;                                                                \
  CHECK(cudaGetLastError());                                                  \
  CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost))

  RUN(ring<<<4, 64>>>(out));
  compare("ring", found, 3 * 4 * 64, [](int n) {
    const int step = n / 256, block = n / 64 % 4;
    return 100 * ((block + 3) % 4) + 63 - n % 64 + step;
  });
  RUN(ending<<<2, 96>>>(out));
  compare("ending", found, 128, [](int n) { return n < 32 ? 95 - n : 95 - (n - 32); });
  RUN(odd<<<dim3(2, 2), dim3(7, 5)>>>(out));
  compare("odd", found, 140, [](int n) {
    const int block = n / 35, thread = 34 - n % 35;
    return 1000 * (block ^ 1) + 100 * (thread / 7) + thread % 7 + 35 * 10000;
  });
  RUN(handshake<<<4, 64>>>(out));
  compare("handshake", found, 3, [](int n) { return 10203 + n * 10101010; });
  RUN(stores<<<2, 32>>>(out));
  compare("stores", found, 224, [](int n) {
    const int other = n / 128 ^ 1, at = n % 128, from = 100 * other;
    if (at < 32) return from + at;
    if (at < 40) return at % 2 ? from + (at - 32) / 2 : 5;
    if (at < 44) return from + 4 + at - 40;
    if (at == 44) return 7 + 2 * from + 11;
    if (at < 64) return 7;
    return at < 96 ? 1000 * other + at - 64 : 0;
  });
  for (int n = 0; n < 64; ++n) found[n] = 3 * n + 1;
  CHECK(cudaMemcpy(in, found, 64 * sizeof(int), cudaMemcpyHostToDevice));
  RUN(multicast<<<4, 32>>>(in, out));
  compare("multicast", found, 256, [](int n) {
    const int mask = n / 32 % 2 ? 12 : 11;
    return mask >> n / 64 & 1 ? 3 * (n % 64) + 1 : -1;
  });
  RUN(spaces<<<2, 32>>>(out));
  compare("spaces", found, 4, [](int n) { return n % 2 ? 6 - n / 2 : 3 * 16 + 2 * 4; });
}
