// Conversions of 16-bit and 8-bit floats that the compiler knows, each in a kernel of its own.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdio>
__global__ void a(int *o) { o[0] = __half2short_ru(__ushort_as_half(0xc100)); }
__global__ void b(int *o) { o[1] = __half2ushort_rd(__ushort_as_half(0x7c00)); }
__global__ void c(int *o) { o[2] = __half2uint_rz(__ushort_as_half(0xc100)); }
__global__ void d(int *o) { o[3] = __half2short_rn(__ushort_as_half(0x7e00)); }
__global__ void e(int *o) { o[4] = __half_as_ushort(hrint(__ushort_as_half(0xc300))); }
__global__ void f(int *o) { o[5] = __half_as_ushort(hfloor(__ushort_as_half(0x8001))); }
__global__ void g(int *o) { o[6] = __half_as_ushort(hceil(__ushort_as_half(0xfc00))); }
__global__ void h(int *o) { o[7] = __bfloat162short_rd(__ushort_as_bfloat16(0xc020)); }
__global__ void i(int *o) { o[8] = __bfloat162int_rz(__ushort_as_bfloat16(0x4b00)); }
__global__ void j(int *o) {
  __half2_raw pair{0x4500, 0xc480};
  o[9] = __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3);
}
__global__ void k(int *o) {
  __half2_raw pair{0x7bff, 0x0001};
  o[10] = __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2);
}
__global__ void l(int *o) { o[11] = __nv_cvt_fp8x2_to_halfraw2(0x7e81, __NV_E4M3).y; }
int main() {
  int *out, host[12];
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0xff, sizeof host);
  a<<<1, 1>>>(out), b<<<1, 1>>>(out), c<<<1, 1>>>(out), d<<<1, 1>>>(out);
  e<<<1, 1>>>(out), f<<<1, 1>>>(out), g<<<1, 1>>>(out), h<<<1, 1>>>(out);
  i<<<1, 1>>>(out), j<<<1, 1>>>(out), k<<<1, 1>>>(out), l<<<1, 1>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int v : host) printf("%x ", v);
  printf("\n");
}
