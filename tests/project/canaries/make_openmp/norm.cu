#include <iostream>
#include <string>
#include <vector>
extern "C" double host_norm(const double *values, int size);
__global__ void square(const double *in, double *out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }
int main() {
  std::vector<double> values(16), squares(16);
#pragma omp parallel for
  for (int i = 0; i < 16; ++i) values[i] = i / 2.0;
  double *in, *out;
  cudaMalloc(&in, 128);
  cudaMalloc(&out, 128);
  cudaMemcpy(in, values.data(), 128, cudaMemcpyHostToDevice);
  square<<<1, 16>>>(in, out);
  cudaMemcpy(squares.data(), out, 128, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (double value : squares) sum += value;
  std::cout << std::string("norms ") << sum << " " << host_norm(values.data(), 16) << "\n";
}
