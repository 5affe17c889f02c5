// Quotients and remainders of all widths, by divisors that are known to be small.
#include <cstdio>

__global__ void divide(const int* a, const int* b, long long* out) {
  const int i = threadIdx.x;
  const int x = a[i], y = b[i];
  const unsigned divisor = (y & 1) ? 1u : 3u;
  const unsigned u = static_cast<unsigned>(x);
  long long* own = out + 6 * i;
  own[0] = u / divisor, own[1] = u % divisor;
  own[2] = x / y, own[3] = x % y;
  own[4] = static_cast<signed char>(x) / static_cast<signed char>(y);
  own[5] = (static_cast<long long>(x) << 20) / ((y & 3) + 1);
}

int main() {
  int *a, *b;
  long long* out;
  cudaMallocManaged(&a, 4 * sizeof(int));
  cudaMallocManaged(&b, 4 * sizeof(int));
  cudaMallocManaged(&out, 24 * sizeof(long long));
  const int x[] = {-1, -128, 100000, 2147483647}, y[] = {1, -1, 6, -7};
  for (int i = 0; i < 4; i++) a[i] = x[i], b[i] = y[i];
  divide<<<1, 4>>>(a, b, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 24; i++) printf("%lld%c", out[i], i % 6 == 5 ? '\n' : ' ');
}
