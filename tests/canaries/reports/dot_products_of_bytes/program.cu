// Quantised dot products: bytes in words, with signs and without, and saturating differences.
#include <cstdio>

__global__ void work(const int* a, const int* b, int* out) {
  const int i = threadIdx.x;
  const unsigned ua = a[i], ub = b[i];
  int* own = out + 8 * i;
  own[0] = __dp4a(a[i], b[i], 10);
  own[1] = static_cast<int>(__dp4a(ua, ub, 10u));
  own[2] = __dp2a_lo(a[i], b[i], -5);
  own[3] = __dp2a_hi(a[i], b[i], -5);
  own[4] = static_cast<int>(__vsubss4(ua, ub));
  own[5] = static_cast<int>(__vsub4(ua, ub));
  own[6] = static_cast<int>(__vcmpgtu4(ua, ub));
  own[7] = static_cast<int>(__vabsdiffs4(ua, ub));
}

int main() {
  int *a, *b, *out;
  cudaMallocManaged(&a, 2 * sizeof(int));
  cudaMallocManaged(&b, 2 * sizeof(int));
  cudaMallocManaged(&out, 16 * sizeof(int));
  a[0] = 0x7f80ff01, b[0] = static_cast<int>(0x80017f02u);
  a[1] = 0x10203040, b[1] = 0x01020304;
  work<<<1, 2>>>(a, b, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 16; i++)
    printf(i % 8 < 4 ? "%d%c" : "%08x%c", out[i], i % 8 == 7 ? '\n' : ' ');
}
