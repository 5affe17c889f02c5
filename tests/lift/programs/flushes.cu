// Operations with -ftz=true that change nothing but denormal numbers, of which only LLVM finds that
// they do. Prints the bits of results.
#include <cuda_runtime.h>
#include <cstdio>

constexpr int COUNT = 4;

__device__ __noinline__ float chosen(int which, float other) {
  return which == 1 ? 1.0f : which == 2 ? -0.0f : other;
}

__global__ void products(const float *x, float *out) {
  float factor = 1.0f;
#pragma unroll 1
  for (int i = 0; i < COUNT; i++) {
    out[i] = x[i] * factor;
    factor += factor;
  }
}

__global__ void sums(const float *x, float *out) {
  float sum = -0.0f;
#pragma unroll 1
  for (int i = 0; i < COUNT; i++) {
    sum = sum + x[i];
    out[i] = sum;
  }
}

__global__ void fused(const float *x, float *out) {
  float factor = -1.0f, more = -0.0f;
#pragma unroll 1
  for (int i = 0; i < COUNT; i++) {
    out[i] = __fmaf_rn(x[i], factor, more);
    factor += factor;
    more -= 1.0f;
  }
}

__global__ void least(const float *x, float *out) {
  float found = __int_as_float(0x7f800000);
#pragma unroll 1
  for (int i = 0; i < COUNT; i++) {
    found = fminf(found, fabsf(x[i]));
    out[i] = found;
  }
}

__global__ void calls(const float *x, float *out) {
  out[0] = x[0] * chosen(1, x[2]);
  out[1] = x[1] + chosen(2, x[2]);
  out[2] = __fmaf_rn(x[0], chosen(1, x[3]), chosen(2, x[3]));
  out[3] = x[3] * chosen(3, x[3]);
}

static void show(const char *name, const float *values) {
  printf("%s:", name);
  for (int i = 0; i < COUNT; i++) printf(" %08x", reinterpret_cast<const unsigned *>(values)[i]);
  printf("\n");
}

int main() {
  // 2^-127, -2^-127, 2^-128 and 1.5.
  const unsigned given[COUNT] = {0x00400000, 0x80400000, 0x00200000, 0x3fc00000};
  float *x, *out;
  cudaMallocManaged(&x, sizeof(given));
  cudaMallocManaged(&out, sizeof(given));
  for (int i = 0; i < COUNT; i++) reinterpret_cast<unsigned *>(x)[i] = given[i];
  void (*const kernels[])(const float *, float *) = {products, sums, fused, least, calls};
  const char *const names[] = {"products", "sums", "fused", "least", "calls"};
  for (int k = 0; k < 5; k++) {
    kernels[k]<<<1, 1>>>(x, out);
    cudaDeviceSynchronize();
    show(names[k], out);
  }
  return 0;
}
