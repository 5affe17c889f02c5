#include <cstdio>

__global__ void square(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

int main() {
  float host[4] = {1, 2, 3, 4}, *in, *out;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  square<<<1, 4>>>(in, out, 4);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  for (float x : host) printf("%g\n", x);
  cudaFree(in);
  cudaFree(out);
}
