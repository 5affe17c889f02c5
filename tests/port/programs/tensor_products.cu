// Products of matrices with sums in tensor memory (tcgen05.mma), each against the same product on the
// host. Numbers are small, so that nothing is rounded. The host lays the matrices out by the texts
// (PTX ISA, "Canonical layouts", "Data path layout"), and looks at all lanes, used or not.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tensor_layouts.h"

constexpr int lanes = 128, image_bytes = 24576, columns = 64, part_of_a = 128;
enum Kind { f16, tf32, f8f6f4, i8 };
enum Option { plain, masked, scaled, weights };

struct Given {
  uint64_t a, b;  // descriptors, without where shared memory begins
  uint32_t instruction, keeps, mask[8];
};

#define PRODUCT(KIND, GROUP, WS, A, MORE)                                                           \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"                                            \
               "tcgen05.mma" WS ".cta_group::" GROUP ".kind::" KIND " [%0], " A ", %2, %3, " MORE   \
               "; }" ::"r"(d), "l"(a), "l"(b), "r"(g.instruction), "r"(g.keeps), "r"(in_memory),    \
               "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3]), "r"(m[4]), "r"(m[5]), "r"(m[6]), "r"(m[7]))
#define MASK "{%6, %7, %8, %9}, p"
#define MASKS "{%6, %7, %8, %9, %10, %11, %12, %13}, p"
#define OPTIONS(KIND)                                                                               \
  if constexpr (GROUP == 2) {                                                                       \
    if constexpr (IN_MEMORY) PRODUCT(KIND, "2", "", "[%5]", "p");                                   \
    else if constexpr (OPTION == masked) PRODUCT(KIND, "2", "", "%1", MASKS);                       \
    else PRODUCT(KIND, "2", "", "%1", "p");                                                         \
  } else if constexpr (IN_MEMORY) {                                                                 \
    if constexpr (OPTION == weights) PRODUCT(KIND, "1", ".ws", "[%5]", "p");                        \
    else PRODUCT(KIND, "1", "", "[%5]", "p");                                                       \
  } else if constexpr (OPTION == masked) PRODUCT(KIND, "1", "", "%1", MASK);                        \
  else if constexpr (OPTION == weights) PRODUCT(KIND, "1", ".ws", "%1", "p");                       \
  else PRODUCT(KIND, "1", "", "%1", "p")

template <int KIND, int GROUP, bool IN_MEMORY, int OPTION>
__device__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t in_memory, const Given &g) {
  const uint32_t *m = g.mask;
  if constexpr (OPTION == scaled) {
    if constexpr (KIND == f16) PRODUCT("f16", "1", "", "%1", "p, 3");
    else PRODUCT("tf32", "1", "", "%1", "p, 3");
  } else if constexpr (KIND == f16) {
    OPTIONS("f16");
  } else if constexpr (KIND == tf32) {
    OPTIONS("tf32");
  } else if constexpr (KIND == f8f6f4) {
    OPTIONS("f8f6f4");
  } else {
    OPTIONS("i8");
  }
}

// `in_memory` are the words of A for each lane, eight of them; `sums` what is there before.
template <int KIND, int GROUP, bool IN_MEMORY, int OPTION>
__global__ void __launch_bounds__(128) product(Given g, const uint4 *images, const uint32_t *in_memory,
                                               uint32_t *sums) {
  extern __shared__ __align__(1024) uint4 memory[];
  __shared__ uint32_t allocated;
  __shared__ uint64_t bar;
  const uint32_t rank = GROUP == 2 ? blockIdx.x % 2 : 0;
  const uint32_t barrier = __cvta_generic_to_shared(&bar), warp = threadIdx.x / 32;
  for (int n = threadIdx.x; n < image_bytes / 16; n += 128) memory[n] = images[rank * image_bytes / 16 + n];
  if (warp == 1) {
    const uint32_t to = __cvta_generic_to_shared(&allocated);
    if constexpr (GROUP == 2)
      asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(to) : "memory");
    else
      asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(to) : "memory");
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier) : "memory");
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const uint32_t d = allocated, own = warp * 32 << 16;
  for (int n = 0; n < columns; ++n) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(d + own + n),
                 "r"(sums[(rank * lanes + threadIdx.x) * columns + n]) : "memory");
  }
  for (int n = 0; n < 8; ++n) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(d + own + part_of_a + n),
                 "r"(in_memory[(rank * lanes + threadIdx.x) * 8 + n]) : "memory");
  }
  asm volatile("tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;" ::: "memory");
  if constexpr (GROUP == 2)
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  else
    __syncthreads();
  const uint64_t start = (__cvta_generic_to_shared(memory) & 0x3ffff) >> 4;
  if (threadIdx.x == 0 && rank == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    multiply<KIND, GROUP, IN_MEMORY, OPTION>(d, g.a + start, g.b + start, d + part_of_a, g);
    if constexpr (GROUP == 2)
      asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                   ::"r"(barrier), "h"((uint16_t)3) : "memory");
    else
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
  }
  asm volatile("{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again; }"
               ::"r"(barrier) : "memory");
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int n = 0; n < columns; ++n) {
    uint32_t word;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;"
                 : "=r"(word) : "r"(d + own + n) : "memory");
    sums[(rank * lanes + threadIdx.x) * columns + n] = word;
  }
  __syncthreads();
  if constexpr (GROUP == 2)
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (warp == 1) {
    if constexpr (GROUP == 2)
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 256;" ::"r"(d));
    else
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" ::"r"(d));
  }
}

struct Case {
  Kind kind;
  const Format &a, &b;
  int sums;  // 0: halves, 1: single precision, 2: integers
  int rows, columns;
  const Layout &of_a, &of_b;
  int group = 1;
  bool in_memory = false;
  Option option = plain;
  int keeps = 1;
  uint32_t more = 0;  // of the instruction descriptor: signs, saturation
};

// Lane and column of an element of the sums; `row` and `column` of all that the instruction computes.
void where(const Case &c, int row, int column, int &block, int &lane, int &at) {
  const int rows = c.rows / c.group;
  block = row / rows;
  row %= rows;
  at = column;
  lane = row;
  const bool is_divided = c.group == 2 || c.option == weights;
  if (rows == 64 && !is_divided) lane = row / 16 * 32 + row % 16;
  if (rows < 128 && is_divided) {
    const int width = c.columns * rows / 128;
    lane = column / width * rows + row;
    at = column % width;
  }
}

float as_float(uint32_t word) {
  float f;
  std::memcpy(&f, &word, 4);
  return f;
}

template <int KIND, int GROUP, bool IN_MEMORY, int OPTION>
int run(const Case &c, int number) {
  const int count = c.kind == tf32 ? 8 : c.kind == f16 ? 16 : 32, rows = c.rows / c.group, width = c.columns / c.group;
  const int first_of_b = 16384;
  std::vector<uint8_t> images[2] = {std::vector<uint8_t>(image_bytes), std::vector<uint8_t>(image_bytes)};
  std::vector<uint32_t> a(c.rows * count), b(c.columns * count), in_memory(2 * lanes * 8), sums(2 * lanes * columns);
  for (int row = 0; row < c.rows; ++row) {
    for (int k = 0; k < count; ++k) {
      const uint32_t code = a[row * count + k] = code_of(c.a, number * 100003 + row * 64 + k);
      if (!c.in_memory) put(images[row / rows], 0, c.a, c.of_a, k, row % rows, count, rows, code);
    }
  }
  for (int column = 0; column < c.columns; ++column) {
    for (int k = 0; k < count; ++k) {
      const uint32_t code = b[column * count + k] = code_of(c.b, number * 200003 + column * 64 + k + 7);
      put(images[column / width], first_of_b, c.b, c.of_b, k, column % width, count, width, code);
    }
  }
  for (int row = 0; row < c.rows; ++row) {
    // A's row is in each lane that has a part of the sums' row.
    for (int column = 0; column < c.columns; ++column) {
      int block, lane, at;
      where(c, row, column, block, lane, at);
      uint32_t words[8] = {};
      for (int k = 0; k < count; ++k) words[k * c.a.bytes / 4] |= a[row * count + k] << (k * c.a.bytes % 4 * 8);
      std::memcpy(&in_memory[(block * lanes + lane) * 8], words, sizeof words);
    }
  }
  for (size_t n = 0; n < sums.size(); ++n) {
    const float number = (float)((int)(hashed(n) % 33) - 16);
    std::memcpy(&sums[n], &number, 4);
    if (c.sums == 0) sums[n] = 0x4000 + (hashed(n) % 2 << 15);  // 2 or -2
    if (c.sums == 2) sums[n] = hashed(n) % 2001 - 1000 + (c.more & 8 ? 0x7fffffff - 1000 : 0);
  }
  Given g{};
  const int along_a = c.of_a.is_across ? rows * c.a.bytes : 32, along_b = c.of_b.is_across ? width * c.b.bytes : 32;
  g.a = descriptor(c.of_a, 0, along_a, c.of_a.is_across ? count : rows);
  g.b = descriptor(c.of_b, first_of_b, along_b, c.of_b.is_across ? count : width);
  g.instruction = c.sums << 4 | c.a.code << 7 | c.b.code << 10 | c.of_a.is_across << 15 | c.of_b.is_across << 16 |
                  c.columns / 8 << 17 | c.rows / 16 << 24 | c.more;
  g.keeps = c.keeps;
  for (int n = 0; n < 8; ++n) g.mask[n] = c.option == masked ? hashed(n + 99) : 0;

  std::vector<uint32_t> found(sums.size());
  uint8_t *device_images;
  uint32_t *device_a, *device_sums;
  cudaMalloc(&device_images, 2 * image_bytes);
  cudaMalloc(&device_a, in_memory.size() * 4);
  cudaMalloc(&device_sums, sums.size() * 4);
  for (int n = 0; n < 2; ++n) cudaMemcpy(device_images + n * image_bytes, images[n].data(), image_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_a, in_memory.data(), in_memory.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(device_sums, sums.data(), sums.size() * 4, cudaMemcpyHostToDevice);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {GROUP, 1, 1};
  cudaLaunchConfig_t launch{};
  launch.gridDim = GROUP;
  launch.blockDim = 128;
  launch.dynamicSmemBytes = image_bytes;
  launch.attrs = &attribute;
  launch.numAttrs = GROUP == 2;
  cudaError_t error = cudaLaunchKernelEx(&launch, product<KIND, GROUP, IN_MEMORY, OPTION>, g, (const uint4 *)device_images,
                                         (const uint32_t *)device_a, device_sums);
  if (error == cudaSuccess) error = cudaMemcpy(found.data(), device_sums, sums.size() * 4, cudaMemcpyDeviceToHost);
  cudaFree(device_images);
  cudaFree(device_a);
  cudaFree(device_sums);
  if (error != cudaSuccess) return std::printf("%d: %s\n", number, cudaGetErrorString(error)), 1;

  std::vector<uint32_t> wanted = sums;
  const bool negates = (c.more >> 13 & 1) != (c.more >> 14 & 1);
  for (int row = 0; row < c.rows; ++row) {
    for (int column = 0; column < c.columns; ++column) {
      int block, lane, at;
      where(c, row, column, block, lane, at);
      if (g.mask[4 * block + lane / 32] >> lane % 32 & 1) continue;
      uint32_t &word = wanted[(block * lanes + lane) * columns + at];
      double sum = 0;
      for (int k = 0; k < count; ++k) sum += value(c.a, a[row * count + k]) * value(c.b, b[column * count + k]);
      if (negates) sum = -sum;
      if (c.keeps) {
        double old = c.sums == 2 ? (double)(int32_t)word : c.sums == 1 ? as_float(word) : (word >> 15 ? -2 : 2);
        sum += c.option == scaled ? old / 8 : old;
      }
      if (c.sums == 2) {
        word = (uint32_t)(int64_t)(c.more & 8 && sum > 0x7fffffff ? 0x7fffffff : sum);
      } else if (c.sums == 1) {
        const float number = (float)sum;
        std::memcpy(&word, &number, 4);
      } else {
        // Half precision, to nearest even; the greatest fraction may carry into the exponent.
        int exponent;
        const double fraction = std::frexp(std::fabs(sum), &exponent);
        const int rounded = (exponent - 1 + 15) * 1024 + (int)std::nearbyint((fraction * 2 - 1) * 1024);
        word = sum == 0 ? 0 : (sum < 0) << 15 | rounded;
      }
    }
  }
  int wrong = 0;
  for (int n = 0; n < c.group * lanes * columns; ++n) {
    const uint32_t mine = c.sums == 0 ? found[n] & 0xffff : found[n];
    if (mine == wanted[n] || (c.sums != 2 && mine << 1 == 0 && wanted[n] << 1 == 0)) continue;
    if (wrong++ < 3) std::printf("  lane %d, column %d: %08x, not %08x\n", n / columns, n % columns, mine, wanted[n]);
  }
  if (wrong) std::printf("%d: %s %s, %d x %d, %s %s: %d wrong\n", number, c.a.name, c.b.name, c.rows, c.columns,
                         c.of_a.name, c.of_b.name, wrong);
  return wrong != 0;
}

template <int KIND, int GROUP>
int run_kind(const Case &c, int number) {
  if constexpr (GROUP == 2) {
    if (c.in_memory) return run<KIND, 2, true, plain>(c, number);
    if (c.option == masked) return run<KIND, 2, false, masked>(c, number);
    return run<KIND, 2, false, plain>(c, number);
  } else {
    if (c.in_memory && c.option == weights) return run<KIND, 1, true, weights>(c, number);
    if (c.in_memory) return run<KIND, 1, true, plain>(c, number);
    if (c.option == masked) return run<KIND, 1, false, masked>(c, number);
    if (c.option == weights) return run<KIND, 1, false, weights>(c, number);
    if constexpr (KIND == f16 || KIND == tf32) {
      if (c.option == scaled) return run<KIND, 1, false, scaled>(c, number);
    }
    return run<KIND, 1, false, plain>(c, number);
  }
}

int run(const Case &c, int number) {
  switch (c.kind + 4 * (c.group - 1)) {
    case f16: return run_kind<f16, 1>(c, number);
    case tf32: return run_kind<tf32, 1>(c, number);
    case f8f6f4: return run_kind<f8f6f4, 1>(c, number);
    case i8: return run_kind<i8, 1>(c, number);
    case 4 + f16: return run_kind<f16, 2>(c, number);
    case 4 + tf32: return run_kind<tf32, 2>(c, number);
    case 4 + f8f6f4: return run_kind<f8f6f4, 2>(c, number);
    default: return run_kind<i8, 2>(c, number);
  }
}

int main() {
  constexpr uint32_t negates_a = 1 << 13, negates_b = 1 << 14, saturates = 8;
  const Case cases[] = {
      // Kinds of numbers.
      {f16, of_f16, of_f16, 1, 128, 16, k_128, k_128},
      {f16, of_bf16, of_bf16, 1, 128, 16, k_128, k_128},
      {f16, of_f16, of_f16, 0, 128, 16, k_128, k_128},
      {tf32, of_tf32, of_tf32, 1, 128, 16, k_128, k_128},
      {f8f6f4, of_e4m3, of_e4m3, 1, 128, 16, k_128, k_128},
      {f8f6f4, of_e5m2, of_e4m3, 1, 128, 16, k_64, k_128},
      {f8f6f4, of_e4m3, of_e5m2, 0, 128, 16, k_128, k_64},
      {f8f6f4, of_e2m3, of_e3m2, 1, 128, 16, k_128, k_128},
      {f8f6f4, of_e2m1, of_e2m3, 1, 128, 16, k_128, k_none},
      {f8f6f4, of_e3m2, of_e2m1, 1, 128, 16, k_128, k_128},
      {i8, of_s8, of_u8, 2, 128, 16, k_128, k_128},
      {i8, of_u8, of_s8, 2, 128, 16, k_128, k_128},
      {i8, of_u8, of_u8, 2, 128, 16, k_128, k_128, 1, false, plain, 1, saturates},
      // Layouts.
      {f16, of_f16, of_f16, 1, 128, 32, k_none, k_none},
      {f16, of_f16, of_f16, 1, 128, 32, k_32, k_64},
      {f16, of_f16, of_f16, 1, 128, 32, k_64, k_32},
      {f16, of_f16, of_f16, 1, 128, 64, mn_128, mn_128},
      {f16, of_bf16, of_bf16, 1, 128, 64, mn_64, mn_32},
      {f16, of_f16, of_f16, 1, 128, 64, mn_32, mn_64},
      {f16, of_f16, of_f16, 1, 128, 64, mn_none, mn_none},
      {f8f6f4, of_e4m3, of_e5m2, 1, 128, 64, mn_128, mn_64},
      {i8, of_s8, of_s8, 2, 128, 64, mn_none, mn_32},
      {tf32, of_tf32, of_tf32, 1, 128, 32, mn_wide, mn_wide},
      // Signs, no sums before, scaled sums, lanes that stay.
      {f16, of_f16, of_f16, 1, 128, 16, k_128, k_128, 1, false, plain, 0, negates_a},
      {f8f6f4, of_e4m3, of_e4m3, 1, 128, 16, k_128, k_128, 1, false, plain, 1, negates_b},
      {tf32, of_tf32, of_tf32, 1, 128, 16, k_128, k_128, 1, false, plain, 1, negates_a | negates_b},
      {f16, of_f16, of_f16, 1, 128, 16, k_128, k_128, 1, false, scaled},
      {tf32, of_tf32, of_tf32, 1, 128, 16, k_128, k_128, 1, false, scaled},
      {f16, of_bf16, of_bf16, 1, 128, 16, k_128, k_128, 1, false, masked},
      {i8, of_s8, of_s8, 2, 64, 16, k_128, k_128, 1, false, masked},
      // Shapes, and A in tensor memory.
      {f16, of_f16, of_f16, 1, 64, 8, k_128, k_128},
      {f16, of_f16, of_f16, 1, 64, 64, k_128, mn_128, 1, true},
      {f16, of_bf16, of_bf16, 1, 128, 48, k_128, k_128, 1, true},
      {tf32, of_tf32, of_tf32, 1, 128, 16, k_128, k_128, 1, true},
      {f8f6f4, of_e5m2, of_e2m1, 1, 128, 16, k_128, k_128, 1, true},
      {i8, of_u8, of_s8, 2, 64, 16, k_128, k_128, 1, true},
      // That keep B.
      {f16, of_f16, of_f16, 1, 32, 64, k_128, k_128, 1, false, weights},
      {tf32, of_tf32, of_tf32, 1, 64, 64, k_128, k_128, 1, false, weights},
      {f8f6f4, of_e4m3, of_e4m3, 1, 128, 64, k_128, k_128, 1, false, weights},
      {i8, of_s8, of_s8, 2, 128, 64, k_128, k_128, 1, true, weights},
      // Of two blocks.
      {f16, of_f16, of_f16, 1, 256, 32, k_128, k_128, 2},
      {f16, of_bf16, of_bf16, 1, 128, 64, k_64, k_none, 2},
      {tf32, of_tf32, of_tf32, 1, 256, 32, k_128, k_128, 2, false, masked},
      {f8f6f4, of_e4m3, of_e5m2, 0, 256, 64, mn_128, k_128, 2},
      {i8, of_s8, of_u8, 2, 128, 64, k_128, k_32, 2},
      {f16, of_f16, of_f16, 1, 256, 32, k_128, k_128, 2, true},
      {i8, of_s8, of_u8, 2, 128, 64, k_128, k_128, 2, true},
  };
  int failed = 0, number = 0;
  for (const Case &c : cases) failed += run(c, number++);
  std::printf("products: %d of %d wrong\n", failed, number);
}
