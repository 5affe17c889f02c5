// The least number of 8, 16, 24 and 32 bits by -1, in wider arithmetic: the quotient is positive.
#include <cstdio>
__global__ void divide(long long *out, const int *a, const int *b) {
  int i = threadIdx.x, x = a[i], y = b[i];
  long long *row = out + 6 * i;
  row[0] = (signed char)x / (signed char)y;
  row[1] = (short)x / (short)y;
  row[2] = (x << 8 >> 8) / (y << 8 >> 8);
  row[3] = (long long)x / y;
  row[4] = (short)x % (short)y;
  row[5] = ((unsigned)(short)x) / (unsigned)((y & 7) + 1);
}
int main() {
  const int a[6] = {-128, -32768, -8388608, -2147483647 - 1, 32640, -8421505},
            b[6] = {-1, -1, -1, -1, 127, -1};
  int *da, *db;
  long long *o, h[36];
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&o, sizeof h);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice),
      cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  divide<<<1, 6>>>(o, da, db);
  cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 36; ++i) printf("%lld%c", h[i], i % 6 == 5 ? '\n' : ' ');
}
