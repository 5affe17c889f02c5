// Barriers in shared memory and copies that arrive at them: libcu++'s classes, and PTX's own
// instructions, whose states of a barrier are written down by hand from the PTX ISA.

#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

#include "expect.h"

#define SAME(found, wanted)                                                          \
  do {                                                                               \
    const long long f = (found), w = (wanted);                                       \
    if (f != w && ++failures < 40) std::printf("line %d: %lld, not %lld\n", __LINE__, f, w); \
  } while (0)

namespace cg = cooperative_groups;

constexpr int threads = 160;  // five warps
constexpr int stages = 6;

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Every thread arrives; what the others wrote before is seen after.
__global__ void rounds(int *out) {
  __shared__ Barrier bar;
  __shared__ int data[threads];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int k = 1; k <= stages; ++k) {
    data[threadIdx.x] = threadIdx.x * k;
    auto token = bar.arrive();
    bar.wait(std::move(token));
    sum += data[(threadIdx.x + 37) % threads];
    bar.arrive_and_wait();
  }
  out[threadIdx.x] = sum;
}

// Warp 0 makes, the others use: two barriers a stage, one phase a use.
__global__ void makers(int *out) {
  __shared__ Barrier full[2], empty[2];
  __shared__ int data[2][32];
  if (threadIdx.x == 0) {
    for (int n = 0; n < 2; ++n) {
      init(&full[n], blockDim.x);
      init(&empty[n], blockDim.x);
    }
  }
  __syncthreads();
  int sum = 0;
  if (threadIdx.x < 32) {
    for (int k = 0; k < stages; ++k) {
      empty[k % 2].arrive_and_wait();
      data[k % 2][threadIdx.x] = 1000 * k + threadIdx.x;
      (void)full[k % 2].arrive();
    }
  } else {
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    for (int k = 0; k < stages; ++k) {
      full[k % 2].arrive_and_wait();
      sum += data[k % 2][(threadIdx.x * 5 + k) % 32];
      (void)empty[k % 2].arrive();
    }
  }
  out[threadIdx.x] = sum;
}

// A thread a phase leaves for good, the others go on.
__global__ void leavers(int *out) {
  __shared__ Barrier bar;
  __shared__ int count;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    count = 0;
  }
  __syncthreads();
  int seen = 0;
  for (int k = 0; k < 4; ++k) {
    atomicAdd(&count, 1);
    if (threadIdx.x / 32 == k + 1) {
      bar.arrive_and_drop();
      break;
    }
    bar.arrive_and_wait();
    seen = seen * 1000 + count;
    bar.arrive_and_wait();
  }
  out[threadIdx.x] = seen;
}

__global__ void copies(const int *in, int *out) {
  __shared__ alignas(16) int buffer[512];
  __shared__ Barrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, buffer, in, cuda::aligned_size_t<16>(sizeof(buffer)), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = buffer[511 - 3 * threadIdx.x];
}

__global__ void pipelined(const int *in, int *out) {
  __shared__ int buffer[2][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int fetch = 0, k = 0; k < stages; ++k) {
    for (; fetch < stages && fetch < k + 2; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetch % 2], in + fetch * threads, sizeof(int) * threads, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = sum * 3 + buffer[k % 2][(threadIdx.x * 7 + k) % threads];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__device__ uint32_t address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ uint32_t pending(uint64_t token) {
  uint32_t count;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}

__device__ bool over(uint32_t bar, uint32_t parity) {
  uint32_t found;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(found) : "r"(bar), "r"(parity) : "memory");
  return found;
}

// One thread; each word of the result is in `states` below.
__global__ void states(uint32_t *out) {
  __shared__ uint64_t memory[3];
  const uint32_t bar = address(&memory[1]);
  uint64_t token;
  memory[0] = memory[2] = ~0ull;
  asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(bar) : "memory");
  for (int k = 0; k < 6; ++k) {
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
    *out++ = pending(token);
    *out++ = over(bar, 0);
    *out++ = over(bar, 1);
  }
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(token) : "r"(bar) : "memory");
  *out++ = pending(token);
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
  *out++ = pending(token);
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
  *out++ = pending(token);
  *out++ = over(bar, 0);
  asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0, [%1], 3;" : "=l"(token) : "r"(bar) : "memory");
  *out++ = pending(token);
  for (int k = 0; k < 2; ++k) {
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
    *out++ = pending(token);
    *out++ = over(bar, k);
  }
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(bar) : "memory");
  *out++ = memory[0] == ~0ull && memory[2] == ~0ull;
}

const std::vector<uint32_t> states_expected = {
    5, 0, 1, 4, 0, 1, 3, 0, 1, 2, 0, 1, 1, 1, 0, 5, 1, 0,  // the fifth arrival ends phase 0
    4,                                                     // two at once
    2,                                                     // and the last one of a thread
    1, 0,  // ends phase 1: parity 1 is over, 0 is not
    4,     // four are expected now; three leave
    1, 1,  // phase 2 ends: one is expected from now on
    1, 1,  // each arrival ends a phase
    1};

// 256 bytes each way of a copy that a barrier counts, and the largest counts.
__global__ void bulk(const int *in, int *out, uint32_t *states) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) int buffer[2][1024];
  __shared__ uint64_t memory;
  const uint32_t bar = address(&memory);
  uint64_t token;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                 : "=l"(token) : "r"(bar), "r"(8192) : "memory");
    states[0] = pending(token);
    for (int n = 0; n < 2; ++n) {
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
          ::"r"(address(buffer[n])), "l"(in + 1024 * n), "r"(4096), "r"(bar) : "memory");
    }
    states[1] = over(bar, 0);  // an arrival is missing
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
    states[2] = pending(token);
  }
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
      ::"r"(bar) : "memory");
  int *const mine = &buffer[threadIdx.x / 80][0];
  for (int n = threadIdx.x % 80; n < 1024; n += 80) mine[n] = 3 * mine[n] + threadIdx.x / 80;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 64) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(out), "r"(address(buffer)), "r"(8192) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    // Transactions without an arrival, an arrival before them, and the most that there may be.
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(bar), "r"(1048575) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(token) : "r"(bar) : "memory");
    states[3] = pending(token);
    states[4] = over(bar, 1);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(bar), "r"(1048574) : "memory");
    states[5] = over(bar, 1);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
    states[6] = over(bar, 1);
    asm volatile("mbarrier.arrive_drop.expect_tx.shared.b64 %0, [%1], 16;" : "=l"(token) : "r"(bar) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
    states[7] = over(bar, 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 16;" ::"r"(bar) : "memory");
    states[8] = over(bar, 0);
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
    states[9] = pending(token);
    states[10] = over(bar, 1);
  }
#endif
}

#define REDUCE(operation, out, from)                                                          \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], %2;" \
               ::"l"(out), "r"(address(from)), "r"(64) : "memory")

// Sixteen words each of what global memory has and of the same multiplied by -3.
__global__ void reduced(const int *in, int *out) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(16) int buffer[16];
  if (threadIdx.x < 16) buffer[threadIdx.x] = -3 * in[threadIdx.x];
  for (int n = threadIdx.x; n < 160; n += threads) out[n] = in[n % 16];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 7) return;
  REDUCE("add.u32", out, buffer);
  REDUCE("min.u32", out + 16, buffer);
  REDUCE("min.s32", out + 32, buffer);
  REDUCE("max.s32", out + 48, buffer);
  REDUCE("inc.u32", out + 64, buffer);
  REDUCE("dec.u32", out + 80, buffer);
  REDUCE("and.b32", out + 96, buffer);
  REDUCE("xor.b32", out + 112, buffer);
  REDUCE("add.u64", out + 128, buffer);
  REDUCE("max.s64", out + 144, buffer);
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

std::vector<int> reduced_expected(const std::vector<int> &in) {
  std::vector<int> out;
  auto each = [&](auto change) {
    for (int n = 0; n < 16; ++n) out.push_back(change(uint32_t(in[n]), uint32_t(-3 * in[n])));
  };
  each([](uint32_t a, uint32_t b) { return a + b; });
  each([](uint32_t a, uint32_t b) { return a < b ? a : b; });
  each([](int a, int b) { return a < b ? a : b; });
  each([](int a, int b) { return a > b ? a : b; });
  each([](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
  each([](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; });
  each([](uint32_t a, uint32_t b) { return a & b; });
  each([](uint32_t a, uint32_t b) { return a ^ b; });
  for (const bool is_sum : {true, false}) {
    for (int n = 0; n < 16; n += 2) {
      const auto pair = [&](int scale) {
        return uint64_t(uint32_t(scale * in[n + 1])) << 32 | uint32_t(scale * in[n]);
      };
      const uint64_t a = pair(1), b = pair(-3);
      const uint64_t made = is_sum ? a + b : int64_t(a) > int64_t(b) ? a : b;
      out.push_back(int(made));
      out.push_back(int(made >> 32));
    }
  }
  return out;
}

const std::vector<uint32_t> bulk_expected = {2, 0, 1, 2, 0, 0, 1, 0, 1, 1, 1};

// The first active lane of each warp, whose number all of them get.
__global__ void elected(uint32_t *out) {
#if __CUDA_ARCH__ >= 900
  const uint32_t lane = threadIdx.x % 32, first = threadIdx.x / 32 * 3;
  if (lane < first) return;
  uint32_t leader, is_leader;
  asm volatile(
      "{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }"
      : "=r"(leader), "=r"(is_leader) : "r"(0xffffffffu << first));
  out[threadIdx.x] = 100 * is_leader + leader + 1000;
#endif
}

template <typename T, typename Kernel, typename... Given>
std::vector<T> run(Kernel kernel, size_t count, Given... given) {
  T *memory;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  kernel(memory, given...);
  GOOD(cudaDeviceSynchronize());
  std::vector<T> found(count);
  cudaMemcpy(found.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(memory);
  return found;
}

int main() {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, rounds);
  int *in;
  std::vector<int> numbers(2048);
  for (int n = 0; n < 2048; ++n) numbers[n] = n * n - (n % 5 == 2 ? -7 : 40000);
  cudaMalloc(&in, sizeof(int) * 2048);
  cudaMemcpy(in, numbers.data(), sizeof(int) * 2048, cudaMemcpyHostToDevice);

  auto found = run<int>([](int *out) { rounds<<<1, threads>>>(out); }, threads);
  for (int t = 0; t < threads; ++t) {
    int sum = 0;
    for (int k = 1; k <= stages; ++k) sum += (t + 37) % threads * k;
    SAME(found[t], sum);
  }
  found = run<int>([](int *out) { makers<<<1, threads>>>(out); }, threads);
  for (int t = 0; t < threads; ++t) {
    int sum = 0;
    for (int k = 0; t >= 32 && k < stages; ++k) sum += 1000 * k + (t * 5 + k) % 32;
    SAME(found[t], sum);
  }
  found = run<int>([](int *out) { leavers<<<1, threads>>>(out); }, threads);
  for (int t = 0; t < threads; ++t) {
    int count = 0, seen = 0;
    for (int k = 0; k < 4; ++k) {
      count += threads - 32 * k;
      if (t / 32 == k + 1) break;
      seen = seen * 1000 + count;
    }
    SAME(found[t], seen);
  }
  found = run<int>([in](int *out) { copies<<<1, threads>>>(in, out); }, threads);
  for (int t = 0; t < threads; ++t) SAME(found[t], numbers[511 - 3 * t]);
  found = run<int>([in](int *out) { pipelined<<<1, threads>>>(in, out); }, threads);
  for (int t = 0; t < threads; ++t) {
    int sum = 0;
    for (int k = 0; k < stages; ++k) sum = sum * 3 + numbers[k * threads + (t * 7 + k) % threads];
    SAME(found[t], sum);
  }
  auto words = run<uint32_t>([](uint32_t *out) { states<<<1, 1>>>(out); }, states_expected.size());
  for (size_t n = 0; n < words.size(); ++n) SAME(words[n], states_expected[n]);

  if (attributes.binaryVersion >= 90) {
    uint32_t *more;
    cudaMalloc(&more, sizeof(uint32_t) * bulk_expected.size());
    found = run<int>([in, more](int *out) { bulk<<<1, threads>>>(in, out, more); }, 2048);
    for (int n = 0; n < 2048; ++n) SAME(found[n], 3 * numbers[n] + n / 1024);
    words.resize(bulk_expected.size());
    cudaMemcpy(words.data(), more, sizeof(uint32_t) * words.size(), cudaMemcpyDeviceToHost);
    for (size_t n = 0; n < words.size(); ++n) SAME(words[n], bulk_expected[n]);
    const auto wanted = reduced_expected(numbers);
    found = run<int>([in](int *out) { reduced<<<1, threads>>>(in, out); }, wanted.size());
    for (size_t n = 0; n < wanted.size(); ++n) SAME(found[n], wanted[n]);
    words = run<uint32_t>([](uint32_t *out) { elected<<<1, threads>>>(out); }, threads);
    for (uint32_t t = 0; t < threads; ++t) {
      const uint32_t lane = t % 32, first = t / 32 * 3;
      SAME(words[t], lane < first ? 0u : 1000 + first + (lane == first ? 100 : 0));
    }
  }
  return failures != 0;
}
