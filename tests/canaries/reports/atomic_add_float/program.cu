// Every atomic operation of one type, with what it returns.
#include <cstdio>

__global__ void work(float* sum, int* out, unsigned* wrap, unsigned long long* wide) {
  atomicAdd(&sum[threadIdx.x % 2], 1.0f);
  if (threadIdx.x != 0) return;
  int i = 0;
  out[i++] = atomicSub(out + 10, 3), out[i++] = atomicExch(out + 11, 9);
  out[i++] = atomicMin(out + 12, -4), out[i++] = atomicMax(out + 13, 99);
  out[i++] = atomicAnd(out + 14, 6), out[i++] = atomicOr(out + 15, 8);
  out[i++] = atomicXor(out + 16, 5), out[i++] = atomicCAS(out + 17, 17, 1);
  out[i++] = atomicCAS(out + 18, 5, 1);
  wrap[2] = atomicInc(wrap, 5), wrap[3] = atomicInc(wrap, 5), wrap[4] = atomicDec(wrap + 1, 7);
  atomicMax(wide, 1ull << 40), atomicAdd(wide + 1, ~0ull), atomicMin(reinterpret_cast<long long*>(wide + 2), -1ll);
}

int main() {
  float* sum;
  int* out;
  unsigned* wrap;
  unsigned long long* wide;
  cudaMallocManaged(&sum, 2 * sizeof(float));
  cudaMallocManaged(&out, 19 * sizeof(int));
  cudaMallocManaged(&wrap, 5 * sizeof(unsigned));
  cudaMallocManaged(&wide, 3 * sizeof *wide);
  sum[0] = sum[1] = 0.5f;
  for (int i = 0; i < 19; i++) out[i] = i;
  wrap[0] = 5, wrap[1] = 0;
  wide[0] = 3, wide[1] = 3, wide[2] = 3;
  work<<<1, 64>>>(sum, out, wrap, wide);
  cudaDeviceSynchronize();
  printf("%g %g\n", sum[0], sum[1]);
  for (int i = 0; i < 19; i++) printf("%d ", out[i]);
  printf("\n%u %u %u %u %u\n", wrap[0], wrap[1], wrap[2], wrap[3], wrap[4]);
  printf("%llu %llu %lld\n", wide[0], wide[1], static_cast<long long>(wide[2]));
}
