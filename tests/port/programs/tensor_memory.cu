// Tensor memory (tcgen05): what is allocated, loaded, stored and copied there, in words that say where
// they were. The host has the texts' tables of who holds what (PTX ISA, "Matrix fragments").
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "expect.h"

constexpr int lanes = 128, columns = 64, most = 32;

__device__ uint32_t shared(const void *pointer) { return (uint32_t)__cvta_generic_to_shared(pointer); }

__device__ uint32_t allocate(uint32_t *to, uint32_t count) {
  if (threadIdx.x / 32 == 0)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared(to)), "r"(count) : "memory");
  __syncthreads();
  const uint32_t address = *to;
  __syncthreads();
  return address;
}

__device__ void release(uint32_t address, uint32_t count) {
  __syncthreads();
  if (threadIdx.x / 32 == 0)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(count) : "memory");
}

__device__ void put(uint32_t address, uint32_t word) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};\ntcgen05.wait::st.sync.aligned;" ::"r"(address), "r"(word) : "memory");
}

__device__ uint32_t get(uint32_t address) {
  uint32_t word;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;" : "=r"(word) : "r"(address) : "memory");
  return word;
}

#define LIST2 "{%0, %1}"
#define LIST4 "{%0, %1, %2, %3}"
#define LIST8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define OUT2 "=r"(r[0]), "=r"(r[1])
#define OUT4 OUT2, "=r"(r[2]), "=r"(r[3])
#define OUT8 OUT4, "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
#define IN2 "r"(r[0]), "r"(r[1])
#define IN4 IN2, "r"(r[2]), "r"(r[3])
#define IN8 IN4, "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7])

// Each shape once as it is and once with halves, that many registers each; `at` is the operand behind them.
#define SHAPES(ACCESS)                           \
  ACCESS(0, "32x32b.x4", 4, "%4", "", )          \
  ACCESS(1, "16x64b.x4", 4, "%4", "", )          \
  ACCESS(2, "16x128b.x2", 4, "%4", "", )         \
  ACCESS(3, "16x256b.x2", 8, "%8", "", )         \
  ACCESS(4, "16x32bx2.x2", 2, "%2", ", 7", )     \
  ACCESS(5, "32x32b.x4", 4, "%4", "", 16)        \
  ACCESS(6, "16x64b.x4", 4, "%4", "", 16)        \
  ACCESS(7, "16x128b.x2", 4, "%4", "", 16)       \
  ACCESS(8, "16x256b.x2", 8, "%8", "", 16)       \
  ACCESS(9, "16x32bx2.x2", 2, "%2", ", 7", 16)
constexpr int shapes = 10;
#define PACKED_ ""
#define PACKED_16 ".pack::16b"
#define UNPACKED_ ""
#define UNPACKED_16 ".unpack::16b"

__device__ void load(int shape, uint32_t address, uint32_t (&r)[8]) {
#define LOAD(NUMBER, SHAPE, COUNT, AT, MORE, HALVES)                                                    \
  if (shape == NUMBER)                                                                                  \
    asm volatile("tcgen05.ld.sync.aligned." SHAPE PACKED_##HALVES ".b32 " LIST##COUNT ", [" AT "]" MORE \
                 ";\ntcgen05.wait::ld.sync.aligned;" : OUT##COUNT : "r"(address) : "memory");
  SHAPES(LOAD)
}

__device__ void store(int shape, uint32_t address, const uint32_t (&r)[8]) {
#define STORE(NUMBER, SHAPE, COUNT, AT, MORE, HALVES)                                                 \
  if (shape == NUMBER)                                                                                \
    asm volatile("tcgen05.st.sync.aligned." SHAPE UNPACKED_##HALVES ".b32 [" AT "]" MORE ", " LIST##COUNT \
                 ";\ntcgen05.wait::st.sync.aligned;" ::IN##COUNT, "r"(address) : "memory");
  SHAPES(STORE)
}

__device__ uint32_t word_of(uint32_t lane, uint32_t column) { return (lane * 1000 + column) * 0x10001u ^ 0x8000; }

__global__ void shaped(uint32_t *loaded, uint32_t *stored, uint32_t half) {
  __shared__ uint32_t allocated;
  const uint32_t start = allocate(&allocated, 64), own = start + (threadIdx.x / 32 * 32 << 16);
  const uint32_t from = own + (half << 16) + 3;
  for (int shape = 0; shape < shapes; ++shape) {
    for (int n = 0; n < columns; ++n) put(own + n, word_of(threadIdx.x, n));
    uint32_t r[8] = {};
    load(shape, from, r);
    for (int n = 0; n < 8; ++n) loaded[(shape * 128 + threadIdx.x) * 8 + n] = r[n];
    for (int n = 0; n < columns; ++n) put(own + n, 0);
    for (int n = 0; n < 8; ++n) r[n] = word_of(threadIdx.x, n + 500);
    store(shape, from, r);
    for (int n = 0; n < columns; ++n) stored[(shape * 128 + threadIdx.x) * columns + n] = get(own + n);
  }
  release(start, 64);
}

// Lane and column, of those that a warp has, of register `n` of thread `t`.
void fragment(int shape, int t, int n, int &lane, int &column) {
  switch (shape % 5) {
    case 0: lane = t, column = n; break;
    case 1: lane = t / 4 + t % 2 * 8, column = 2 * n + t / 2 % 2; break;
    case 2: lane = t / 4 + n % 2 * 8, column = n / 2 * 4 + t % 4; break;
    case 3: lane = t / 4 + n / 2 % 2 * 8, column = n / 4 * 8 + t % 4 * 2 + n % 2; break;
    default: lane = t % 16, column = n + t / 16 * 7; break;
  }
}

uint32_t host_word(uint32_t lane, uint32_t column) { return (lane * 1000 + column) * 0x10001u ^ 0x8000; }

int check_shapes(uint32_t half) {
  constexpr int counts[] = {4, 4, 4, 8, 2};
  std::vector<uint32_t> loaded(shapes * 128 * 8), stored(shapes * 128 * columns);
  uint32_t *device_loaded, *device_stored;
  cudaMalloc(&device_loaded, loaded.size() * 4);
  cudaMalloc(&device_stored, stored.size() * 4);
  shaped<<<1, 128>>>(device_loaded, device_stored, half);
  GOOD(cudaMemcpy(loaded.data(), device_loaded, loaded.size() * 4, cudaMemcpyDeviceToHost));
  GOOD(cudaMemcpy(stored.data(), device_stored, stored.size() * 4, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int shape = 0; shape < shapes; ++shape) {
    if (half != 0 && shape % 5 == 0) continue;  // all lanes of a warp, from the first on
    const bool halves = shape >= 5;
    std::vector<uint32_t> wanted(128 * columns);
    for (int thread = 0; thread < 128; ++thread) {
      for (int n = 0; n < counts[shape % 5]; ++n) {
        int lane, column;
        fragment(shape, thread % 32, n, lane, column);
        lane += thread / 32 * 32 + half;
        // Two columns have the halves of one word; the distance of 16x32bx2 is in columns.
        if (halves && shape % 5 == 4) column = 2 * n + thread % 32 / 16 * 7;
        else if (halves) column *= 2;
        column += 3;
        const uint32_t got = loaded[(shape * 128 + thread) * 8 + n];
        uint32_t right = host_word(lane, column);
        if (halves) right = (right & 0xffff) | host_word(lane, column + 1) << 16;
        if (got != right && wrong++ < 4) std::printf("load %d, thread %d, register %d: %08x, not %08x\n", shape, thread, n, got, right);
        const uint32_t given = host_word(thread, n + 500);
        wanted[lane * columns + column] = halves ? given & 0xffff : given;
        if (halves) wanted[lane * columns + column + 1] = given >> 16;
      }
    }
    for (int n = 0; n < 128 * columns; ++n) {
      const uint32_t got = stored[shape * 128 * columns + n];
      if (got != wanted[n] && wrong++ < 4) std::printf("store %d, lane %d, column %d: %08x, not %08x\n", shape, n / columns, n % columns, got, wanted[n]);
    }
  }
  return wrong;
}

constexpr int copies = 5;

__global__ void copied(uint32_t *found) {
  extern __shared__ __align__(1024) uint32_t memory[];
  __shared__ uint32_t allocated;
  __shared__ uint64_t bar;
  for (int n = threadIdx.x; n < 1024; n += 128) memory[n] = n;
  const uint32_t start = allocate(&allocated, 64), own = start + (threadIdx.x / 32 * 32 << 16);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(shared(&bar)) : "memory");
  for (int copy = 0; copy < copies; ++copy) {
    for (int n = 0; n < 16; ++n) put(own + n, 0xffffffff);
    asm volatile("fence.proxy.async;\ntcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      // Eight lines of 16 bytes next to each other; 128 bytes to the next eight, 2,048 to the next chunk.
      const uint64_t matrix = (shared(memory) & 0x3ffff) >> 4 | 2048ull >> 4 << 16 | 128ull >> 4 << 32 | 1ull << 46;
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#define COPY(NUMBER, SHAPE) \
  if (copy == NUMBER) asm volatile("tcgen05.cp.cta_group::1." SHAPE " [%0], %1;" ::"r"(start + 2), "l"(matrix) : "memory")
      COPY(0, "128x256b");
      COPY(1, "128x128b");
      COPY(2, "32x128b.warpx4");
      COPY(3, "64x128b.warpx2::02_13");
      COPY(4, "64x128b.warpx2::01_23");
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared(&bar)) : "memory");
    }
    asm volatile("{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again; }" ::"r"(shared(&bar)), "r"(copy % 2) : "memory");
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int n = 0; n < 16; ++n) found[(copy * 128 + threadIdx.x) * 16 + n] = get(own + n);
    __syncthreads();
  }
  release(start, 64);
}

int check_copies() {
  std::vector<uint32_t> found(copies * 128 * 16);
  uint32_t *device;
  cudaMalloc(&device, found.size() * 4);
  copied<<<1, 128, 4096>>>(device);
  GOOD(cudaMemcpy(found.data(), device, found.size() * 4, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int copy = 0; copy < copies; ++copy) {
    for (int lane = 0; lane < 128; ++lane) {
      const int row = copy < 2 ? lane : copy == 2 ? lane % 32 : copy == 3 ? lane % 64 : lane / 64 * 32 + lane % 32;
      for (int n = 0; n < 16; ++n) {
        const int word = n - 2, words = copy == 0 ? 8 : 4;
        uint32_t wanted = 0xffffffff;
        if (word >= 0 && word < words) wanted = word / 4 * 512 + row * 4 + word % 4;
        const uint32_t got = found[(copy * 128 + lane) * 16 + n];
        if (got != wanted && wrong++ < 4) std::printf("copy %d, lane %d, column %d: %u, not %u\n", copy, lane, n, got, wanted);
      }
    }
  }
  return wrong;
}

// What allocations give, one after the other; and that each block has its own.
__global__ void allocations(uint32_t *found) {
  __shared__ uint32_t allocated;
  uint32_t *const mine = found + blockIdx.x * 16;
  const uint32_t first = allocate(&allocated, 32), second = allocate(&allocated, 128), third = allocate(&allocated, 64);
  const uint32_t own = threadIdx.x / 32 * 32 << 16;
  put(first + own + 31, blockIdx.x);
  put(second + own, blockIdx.x + 1000);
  release(third, 64);
  __syncthreads();
  const uint32_t fourth = allocate(&allocated, 256);
  put(fourth + own + 255, blockIdx.x + 2000);
  const uint32_t words[] = {get(first + own + 31), get(second + own), get(fourth + own + 255)};
  release(first, 32);
  release(second, 128);
  release(fourth, 256);
  __syncthreads();
  const uint32_t whole = allocate(&allocated, 512);
  release(whole, 512);
  if (threadIdx.x / 32 == 0) asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  if (threadIdx.x == 77) {
    const uint32_t all[] = {first, second, third, fourth, whole, words[0], words[1], words[2]};
    for (int n = 0; n < 8; ++n) mine[n] = all[n];
  }
}

int main() {
  EXPECT(check_shapes(0) == 0);
  EXPECT(check_shapes(16) == 0);
  EXPECT(check_copies() == 0);
  constexpr uint32_t blocks = 40;
  std::vector<uint32_t> found(blocks * 16);
  uint32_t *device;
  cudaMalloc(&device, found.size() * 4);
  allocations<<<blocks, 128>>>(device);
  GOOD(cudaMemcpy(found.data(), device, found.size() * 4, cudaMemcpyDeviceToHost));
  for (uint32_t block = 0; block < blocks; ++block) {
    // The first place that is free, and a multiple of the size: no other block has any of it.
    const uint32_t wanted[] = {0, 128, 64, 256, 0, block, block + 1000, block + 2000};
    EXPECT(std::memcmp(&found[block * 16], wanted, sizeof wanted) == 0);
  }
  return failures;
}
