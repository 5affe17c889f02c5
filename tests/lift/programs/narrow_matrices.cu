// Products of matrices whose numbers have eight, six and four bits (PTX: mma, kind::f8f6f4). Prints
// the bits of all sums.
#include <cuda_runtime.h>
#include <cstdio>

constexpr int LANES = 32;

#ifdef __HIP__  // only its host is used
#define PRODUCT(D, A, B)
#else
#define PRODUCT(D, A, B)                                            \
  asm("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32." A "." B \
      ".f32 {%0, %1, %2, %3}, "                                     \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"               \
      : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])              \
      : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "r"(right.x), "r"(right.y))
#endif

#define KERNEL(NAME, A, B)                                             \
  __global__ void NAME(const uint4 *a, const uint2 *b, float4 *sums) { \
    const uint4 left = a[threadIdx.x];                                 \
    const uint2 right = b[threadIdx.x];                                \
    const float4 before = sums[threadIdx.x];                           \
    float d[4] = {before.x, before.y, before.z, before.w};             \
    PRODUCT(d, A, B);                                                  \
    sums[threadIdx.x] = make_float4(d[0], d[1], d[2], d[3]);           \
  }

KERNEL(four_and_four, "e2m1", "e2m1")
KERNEL(six_and_six, "e3m2", "e2m3")
KERNEL(six_and_four, "e2m3", "e2m1")
KERNEL(eight_and_four, "e4m3", "e2m1")
KERNEL(four_and_eight, "e2m1", "e5m2")
KERNEL(eight_and_six, "e5m2", "e3m2")

using Kernel = void (*)(const uint4 *, const uint2 *, float4 *);

int main(int, char **) {
  const Kernel kernels[] = {four_and_four,  six_and_six,    six_and_four,
                            eight_and_four, four_and_eight, eight_and_six};
  // Numbers of A and of B: which bits of 11 n + 5 they have, from which bit on, and what is added.
  const int places[][6] = {{15, 2, 0, 15, 2, 0},  {63, 0, 0, 63, 0, 0},  {63, 0, 0, 15, 2, 0},
                           {15, 0, 48, 15, 2, 0}, {15, 2, 0, 7, 0, 188}, {7, 0, 60, 63, 0, 0}};
  unsigned char *a, *b;
  float *sums;
  cudaMallocManaged(&a, LANES * 16);
  cudaMallocManaged(&b, LANES * 8);
  cudaMallocManaged(&sums, LANES * 16);
  for (int k = 0; k < 6; k++) {
    const int *const place = places[k];
    for (int n = 0; n < LANES * 16; n++)
      a[n] = ((11 * n + 5 + n / 64 & place[0]) << place[1]) + place[2];
    for (int n = 0; n < LANES * 8; n++)
      b[n] = ((11 * n + 5 + n / 32 & place[3]) << place[4]) + place[5];
    for (int n = 0; n < LANES * 4; n++) sums[n] = n - 60;
    kernels[k]<<<1, LANES>>>(reinterpret_cast<uint4 *>(a), reinterpret_cast<uint2 *>(b),
                             reinterpret_cast<float4 *>(sums));
    cudaDeviceSynchronize();
    for (int n = 0; n < LANES * 4; n++) printf("%a ", sums[n]);
    printf("\n");
  }
  return 0;
}
