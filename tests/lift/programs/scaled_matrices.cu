// Products of matrices of which blocks of each row have a scale (PTX: mma with block_scale).
// Prints all sums.
#include <cuda_runtime.h>
#include <cstdio>

constexpr int LANES = 32;

#ifdef __HIP__  // only its host is used
#define PRODUCT(KIND, A, B)
#else
#define PRODUCT(KIND, A, B)                                                                      \
  asm("mma.sync.aligned." KIND                                                                   \
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, " A ", {%11}, " B \
      ";"                                                                                        \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                           \
      : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "r"(right.x), "r"(right.y),          \
        "r"(scale.x), "r"(scale.y))
#endif

#define KERNEL(NAME, KIND, A, B)                                                            \
  __global__ void NAME(const uint4 *a, const uint2 *b, const uint2 *scales, float4 *sums) { \
    const uint4 left = a[threadIdx.x];                                                      \
    const uint2 right = b[threadIdx.x], scale = scales[threadIdx.x];                        \
    const float4 before = sums[threadIdx.x];                                                \
    float d[4] = {before.x, before.y, before.z, before.w};                                  \
    PRODUCT(KIND, A, B);                                                                    \
    sums[threadIdx.x] = make_float4(d[0], d[1], d[2], d[3]);                                \
  }

#define ONE "kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e3m2.e2m1.f32.ue8m0"
#define TWO "kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0"
#define FOUR "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3"

KERNEL(one, ONE, "{0, 0}", "{0, 0}")
KERNEL(one_elsewhere, ONE, "{3, 1}", "{1, 2}")
KERNEL(two, TWO, "{0, 0}", "{0, 0}")
KERNEL(two_elsewhere, TWO, "{2, 1}", "{2, 3}")
KERNEL(four, FOUR, "{0, 0}", "{0, 0}")
KERNEL(four_elsewhere, FOUR, "{0, 1}", "{0, 1}")

using Kernel = void (*)(const uint4 *, const uint2 *, const uint2 *, float4 *);

int main(int, char **) {
  const Kernel kernels[] = {one, one_elsewhere, two, two_elsewhere, four, four_elsewhere};
  unsigned char *a, *b, *scales;
  float *sums;
  cudaMallocManaged(&a, LANES * 16);
  cudaMallocManaged(&b, LANES * 8);
  cudaMallocManaged(&scales, LANES * 8);
  cudaMallocManaged(&sums, LANES * 16);
  for (int k = 0; k < 6; k++) {
    for (int n = 0; n < LANES * 16; n++) a[n] = k < 2 ? 11 * n + 5 + n / 64 & 63 : 29 * n + n / 64;
    for (int n = 0; n < LANES * 8; n++) b[n] = k < 2 ? (7 * n + 3 & 15) << 2 : 23 * n + 9 + n / 32;
    // Powers of two from 2^-4 to 2^3, or E4M3 from 0.5 to 1.875.
    for (int n = 0; n < LANES * 8; n++)
      scales[n] = k < 4 ? 123 + (5 * n + n / 8) % 8 : 48 + (5 * n + n / 8) % 16;
    for (int n = 0; n < LANES * 4; n++) sums[n] = n - 60;
    kernels[k]<<<1, LANES>>>(reinterpret_cast<uint4 *>(a), reinterpret_cast<uint2 *>(b),
                             reinterpret_cast<uint2 *>(scales), reinterpret_cast<float4 *>(sums));
    cudaDeviceSynchronize();
    for (int n = 0; n < LANES * 4; n++) printf("%a ", sums[n]);
    printf("\n");
  }
  return 0;
}
