#include <cstdio>
#include <stdexcept>
#include <vector>
__global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
int main() {
  const int n = 100;
  std::vector<float> x(n), y(n, 1.f);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i);
  float *dx, *dy;
  if (cudaMalloc(&dx, n * 4) || cudaMalloc(&dy, n * 4)) throw std::runtime_error("memory");
  cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), n * 4, cudaMemcpyHostToDevice);
  saxpy<<<4, 32>>>(OFFSET, dx, dy, n);
  cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", y.at(3), y.at(99));
}
