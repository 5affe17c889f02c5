// Products of the low 24 bits, of words and of their high halves.
#include <cstdio>

__global__ void multiply(const int* in, int* out) {
  const int a = in[0], b = in[1];
  out[0] = __mul24(a, b);
  out[1] = static_cast<int>(__umul24(a, b));
  out[2] = __mulhi(a, b);
  out[3] = static_cast<int>(__umulhi(a, b));
  out[4] = static_cast<int>(__mul64hi(static_cast<long long>(a) << 32, b));
  out[5] = static_cast<int>(__umul64hi(0xffffffffffffffffull, 5));
  out[6] = __sad(a, b, 7u) == static_cast<unsigned>(b - a) + 7u;
  out[7] = __hadd(7, 10) + __rhadd(7, 10) * 100;
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 2 * sizeof(int));
  cudaMallocManaged(&out, 8 * sizeof(int));
  in[0] = static_cast<int>(0x80fffffeu);
  in[1] = 3;
  multiply<<<1, 1>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; i++) printf("%d ", out[i]);
  printf("\n");
}
