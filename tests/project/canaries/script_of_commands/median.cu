#include <cuda_runtime.h>
#include <stdexcept>
template <typename T>
__device__ void order(T& a, T& b) {
  if (b < a) {
    T c = a;
    a = b;
    b = c;
  }
}
__global__ void medians(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float a = in[max(i - 1, 0)], b = in[i], c = in[min(i + 1, n - 1)];
    order(a, b), order(b, c), order(a, b);
    out[i] = b;
  }
}
extern "C" void median(const float* in, float* out, int n) {
  if (n <= 0) throw std::invalid_argument("no values");
  float *device_in, *device_out;
  cudaMalloc(&device_in, n * sizeof(float));
  cudaMalloc(&device_out, n * sizeof(float));
  cudaMemcpyAsync(device_in, in, n * sizeof(float), cudaMemcpyHostToDevice, 0);
  medians<<<dim3(2), dim3(32)>>>(device_in, device_out, n);
  cudaMemcpyAsync(out, device_out, n * sizeof(float), cudaMemcpyDeviceToHost, 0);
  cudaStreamSynchronize(0);
  cudaFree(device_in), cudaFree(device_out);
}
