// Narrow results of conversions, used as words: compared, multiplied, shifted and as indices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>
__global__ void convert(int *out, const float *given) {
  const float f = given[threadIdx.x];
  const __half h = __float2half(f);
  const __nv_bfloat16 b = __float2bfloat16(f);
  int *row = out + 8 * threadIdx.x;
  row[0] = __half2short_rn(h) < 0;
  row[1] = __half2short_rd(h) * 3;
  row[2] = (int)(short)f >> 2;
  row[3] = __bfloat162short_ru(b) + 100000;
  row[4] = (signed char)(int)f - (short)(f * 256.0f);
  row[5] = __half2ushort_rz(__habs(h)) + __half2uchar_rz(__habs(h));
  row[6] = min(__half2int_rz(h), (int)__half2short_ru(h));
  row[7] = (int)((unsigned)(unsigned short)__half2short_rd(h) >> 4);
}
int main() {
  const float given[4] = {-100.5f, -0.75f, 2.5f, 96.25f};
  float *device_given;
  int *out, host[32];
  cudaMalloc(&device_given, sizeof given);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(device_given, given, sizeof given, cudaMemcpyHostToDevice);
  convert<<<1, 4>>>(out, device_given);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) printf("%d%c", host[i], i % 8 == 7 ? '\n' : ' ');
}
