// Absolute differences of packed pixels, of samples and of half precision numbers, both ways round.
#include <cuda_fp16.h>
#include <cstdio>
__global__ void images(unsigned *out, const uchar4 *p, const ushort2 *s, const __half2 *h) {
  uchar4 a = p[threadIdx.x], b = p[threadIdx.x ^ 1];
  ushort2 c = s[threadIdx.x], d = s[threadIdx.x ^ 1];
  __half2 x = h[threadIdx.x], y = h[threadIdx.x ^ 1];
  unsigned *row = out + 5 * threadIdx.x;
  row[0] = (a.x > b.x ? a.x - b.x : b.x - a.x) | (a.y > b.y ? a.y - b.y : b.y - a.y) << 8 |
           (a.z > b.z ? a.z - b.z : b.z - a.z) << 16 | (a.w > b.w ? a.w - b.w : b.w - a.w) << 24;
  row[1] = (c.x > d.x ? c.x - d.x : d.x - c.x) + (c.y > d.y ? c.y - d.y : d.y - c.y) * 3;
  row[2] = (a.x - b.y) * (b.y - a.x) + (a.w - b.z) * 5 + (b.z - a.w) * 7;
  row[3] = __half_as_ushort(__hsub(__low2half(x), __high2half(y))) << 16 |
           __half_as_ushort(__hsub(__high2half(y), __low2half(x)));
  row[4] = (short)(c.y - d.x) * 2 + (short)(d.x - c.y);
}
int main() {
  const unsigned char p[8] = {1, 200, 30, 255, 90, 20, 250, 3};
  const unsigned short s[4] = {1000, 65535, 40000, 12};
  const unsigned short h[4] = {0x3c00, 0x4500, 0xc200, 0x3800};
  void *a, *b, *c;
  unsigned *o, r[10];
  cudaMalloc(&a, 8), cudaMalloc(&b, 8), cudaMalloc(&c, 8), cudaMalloc(&o, sizeof r);
  cudaMemcpy(a, p, 8, cudaMemcpyHostToDevice), cudaMemcpy(b, s, 8, cudaMemcpyHostToDevice),
      cudaMemcpy(c, h, 8, cudaMemcpyHostToDevice);
  images<<<1, 2>>>(o, (uchar4 *)a, (ushort2 *)b, (__half2 *)c);
  cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 10; ++i) printf("%x%c", r[i], i % 5 == 4 ? '\n' : ' ');
}
