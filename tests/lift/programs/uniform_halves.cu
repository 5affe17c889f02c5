// A float that is the same in all lanes becomes a half: on sm_120 in registers of the warp.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <typename Narrow>
__device__ __noinline__ unsigned short narrowed(float magnitude, float sign, Narrow narrow) {
  return narrow(copysignf(magnitude, sign));
}

__global__ void all(float magnitude, float sign, unsigned short* out) {
  out[0] = narrowed(magnitude, sign, [](float x) { return __half_as_ushort(__float2half_rn(x)); });
  out[1] = narrowed(magnitude, sign, [](float x) { return __half_as_ushort(__float2half_rz(x)); });
  out[2] = narrowed(magnitude, sign, [](float x) { return __half_as_ushort(__float2half_ru(x)); });
  out[3] = narrowed(magnitude, sign, [](float x) { return __half_as_ushort(__float2half_rd(x)); });
  out[4] = narrowed(magnitude, sign, [](float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); });
}

int main() {
  unsigned short result[5], *out;
  cudaMalloc(&out, sizeof result);
  // Ties, the largest half and above, subnormal halves and floats.
  for (float magnitude : {0.0f, 1.0f, 3.1f, 65504.0f, 65520.0f, 200000.0f, 1e-5f, 1e-7f, 5.96e-8f, 2.98e-8f, 1e-9f, 1e30f,
                          2049.0f, 2051.0f, 1e-40f})
    for (float sign : {1.0f, -1.0f}) {
      all<<<1, 1>>>(magnitude, sign, out);
      cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
      for (unsigned short half : result) printf("%04x ", half);
      printf("\n");
    }
}
