// Products of matrices of which blocks of each row have a scale (tcgen05.mma with block_scale). Scales
// come to tensor memory by copies, 32 rows next to each other for each of four columns.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#include "tensor_layouts.h"

constexpr int lanes = 128, image_bytes = 16384, columns = 64, scales_place = 12288;
enum Kind { mxf8, mxf4, nvf4_by_32, nvf4 };

#define PRODUCT(KIND, VECTOR)                                                                    \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"                                         \
               "tcgen05.mma.cta_group::1.kind::" KIND ".block_scale" VECTOR                      \
               " [%0], %1, %2, %3, [%5], [%6], p; }" ::"r"(d), "l"(a), "l"(b), "r"(instruction), \
               "r"(keeps), "r"(d + 64), "r"(d + 68))

template <int KIND>
__global__ void __launch_bounds__(128) product(uint64_t a, uint64_t b, uint32_t instruction, uint32_t keeps, const uint4 *image,
                                               uint32_t *sums) {
  __shared__ __align__(1024) uint4 memory[image_bytes / 16];
  __shared__ uint32_t allocated;
  __shared__ uint64_t bar;
  const uint32_t barrier = __cvta_generic_to_shared(&bar), warp = threadIdx.x / 32;
  for (int n = threadIdx.x; n < image_bytes / 16; n += 128) memory[n] = image[n];
  if (warp == 0)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"((uint32_t)__cvta_generic_to_shared(&allocated)) : "memory");
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const uint32_t d = allocated, own = warp * 32 << 16;
  for (int n = 0; n < columns; ++n)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(d + own + n), "r"(sums[threadIdx.x * columns + n]) : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  const uint64_t start = (__cvta_generic_to_shared(memory) & 0x3ffff) >> 4;
  if (threadIdx.x == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int n = 0; n < 2; ++n) {
      const uint64_t from = start + (scales_place + 512 * n >> 4) | 128ull >> 4 << 32 | 1ull << 46;
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(d + 64 + 4 * n), "l"(from) : "memory");
    }
    a += start;
    b += start;
    if constexpr (KIND == mxf8) PRODUCT("mxf8f6f4", "");
    if constexpr (KIND == mxf4) PRODUCT("mxf4", ".scale_vec::2X");
    if constexpr (KIND == nvf4_by_32) PRODUCT("mxf4nvf4", ".scale_vec::2X");
    if constexpr (KIND == nvf4) PRODUCT("mxf4nvf4", ".scale_vec::4X");
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
  }
  asm volatile("{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again; }" ::"r"(barrier) : "memory");
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int n = 0; n < columns; ++n) {
    uint32_t word;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;" : "=r"(word) : "r"(d + own + n) : "memory");
    sums[threadIdx.x * columns + n] = word;
  }
  __syncthreads();
  if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(d));
}

const Format packed{"e2m1", 1, 4, 2, 1, 1};  // two in a byte

struct Case {
  Kind kind;
  const Format &a, &b;
  int columns;
  int scales;  // of a row
  bool are_exponents;
  int first_a, first_b;  // bytes of a word at which scales begin
  uint32_t more = 0;
};

double scale_value(const Case &c, uint32_t code) { return c.are_exponents ? std::ldexp(1, (int)code - 127) : value(of_e4m3, code); }

template <int KIND>
int run(const Case &c, int number) {
  const int count = c.kind == mxf8 ? 32 : 64, first_of_b = 4096, width = count / c.scales;
  std::vector<uint8_t> image(image_bytes);
  std::vector<uint32_t> a(lanes * count), b(c.columns * count), sums(lanes * columns), found(lanes * columns);
  const auto fill = [&](std::vector<uint32_t> &codes, int lines, const Format &f, int first, int seed) {
    for (int line = 0; line < lines; ++line) {
      for (int k = 0; k < count; ++k) {
        const uint32_t code = codes[line * count + k] = code_of(f, number * 100003 + line * 64 + k + seed);
        if (c.kind == mxf8) put(image, first, f, k_32, k, line, count, lines, code);
        else image[first + place(k_32, k / 2, line, 32, lines)] |= code << k % 2 * 4;
      }
    }
  };
  fill(a, lanes, c.a, 0, 0);
  fill(b, c.columns, c.b, first_of_b, 7);
  // Of all bytes some are scales; the others are something else, so that a wrong one shows.
  const auto scale = [&](int matrix, int row, int byte) -> uint8_t & {
    return image[scales_place + matrix * 512 + row % 32 * 16 + row / 32 * 4 + byte];
  };
  for (int n = 0; n < 1024; ++n) {
    const uint32_t h = hashed(n + number * 4099);
    image[scales_place + n] = c.are_exponents ? 124 + h % 7 : 0x30 + h % 0x10;
  }
  for (size_t n = 0; n < sums.size(); ++n) {
    const float old = (float)((int)(hashed(n) % 33) - 16);
    std::memcpy(&sums[n], &old, 4);
  }
  const uint32_t instruction = c.first_b << 4 | c.a.code << 7 | c.b.code << 10 | c.columns / 8 << 17 | c.are_exponents << 23 |
                               lanes / 16 << 24 | c.first_a << 29 | c.more;
  uint8_t *device_image;
  uint32_t *device_sums;
  cudaMalloc(&device_image, image_bytes);
  cudaMalloc(&device_sums, sums.size() * 4);
  cudaMemcpy(device_image, image.data(), image_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_sums, sums.data(), sums.size() * 4, cudaMemcpyHostToDevice);
  product<KIND><<<1, 128>>>(descriptor(k_32, 0, 32, lanes), descriptor(k_32, first_of_b, 32, c.columns), instruction, 1,
                            (const uint4 *)device_image, device_sums);
  const cudaError_t error = cudaMemcpy(found.data(), device_sums, sums.size() * 4, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return std::printf("%d: %s\n", number, cudaGetErrorString(error)), 1;
  int wrong = 0;
  for (int row = 0; row < lanes; ++row) {
    for (int column = 0; column < columns; ++column) {
      float wanted;
      std::memcpy(&wanted, &sums[row * columns + column], 4);
      double sum = 0;
      for (int k = 0; column < c.columns && k < count; ++k) {
        sum += value(c.a, a[row * count + k]) * scale_value(c, scale(0, row, c.first_a + k / width)) *
               value(c.b, b[column * count + k]) * scale_value(c, scale(1, column, c.first_b + k / width));
      }
      wanted = (float)(wanted + (c.more >> 13 & 1 ? -sum : sum));
      float mine;
      std::memcpy(&mine, &found[row * columns + column], 4);
      if (mine != wanted && wrong++ < 3) std::printf("  row %d, column %d: %g, not %g\n", row, column, mine, wanted);
    }
  }
  if (wrong) std::printf("%d: %s %s: %d wrong\n", number, c.a.name, c.b.name, wrong);
  return wrong != 0;
}

int main() {
  const Case cases[] = {
      {mxf8, of_e4m3, of_e4m3, 64, 1, true, 0, 0},
      {mxf8, of_e5m2, of_e4m3, 40, 1, true, 1, 3, 1 << 13},
      {mxf8, of_e2m1, of_e3m2, 16, 1, true, 2, 1},
      {mxf4, packed, packed, 64, 2, true, 0, 2},
      {nvf4_by_32, packed, packed, 32, 2, true, 2, 0},
      {nvf4, packed, packed, 64, 4, false, 0, 0},
  };
  int failed = 0, number = 0;
  for (const Case &c : cases) {
    failed += c.kind == mxf8   ? run<mxf8>(c, number)
              : c.kind == mxf4 ? run<mxf4>(c, number)
              : c.kind == nvf4 ? run<nvf4>(c, number)
                               : run<nvf4_by_32>(c, number);
    ++number;
  }
  std::printf("scaled products: %d of %d wrong\n", failed, number);
}
