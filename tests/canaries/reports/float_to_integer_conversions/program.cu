// Every conversion of floats to integers, with numbers that do not fit.
#include <cstdio>

__global__ void convert(const float* in, long long* out) {
  const float x = in[threadIdx.x];
  long long* own = out + 8 * threadIdx.x;
  own[0] = __float2int_rn(x), own[1] = __float2int_rz(x);
  own[2] = __float2int_ru(x), own[3] = __float2int_rd(x);
  own[4] = __float2uint_rn(x), own[5] = __float2uint_ru(x);
  own[6] = __float2ll_rn(x), own[7] = __float2ll_rd(x);
}

int main() {
  float* in;
  long long* out;
  cudaMallocManaged(&in, 6 * sizeof(float));
  cudaMallocManaged(&out, 48 * sizeof(long long));
  const float values[] = {2.5f, -2.5f, 3.5f, -0.75f, 3e9f, -3e9f};
  for (int i = 0; i < 6; i++) in[i] = values[i];
  convert<<<1, 6>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 48; i++) printf("%lld%c", out[i], i % 8 == 7 ? '\n' : ' ');
}
