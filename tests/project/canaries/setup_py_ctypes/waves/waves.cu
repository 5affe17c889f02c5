#include <cstring>
#include <stdexcept>
#include <vector>
__global__ void step(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = (in[(i + n - 1) % n] + in[(i + 1) % n]) / 2;
}
static std::vector<float> stepped(const float* values, int n) {
  if (n > 256) throw std::invalid_argument("n");
  float *in, *out;
  cudaMalloc(&in, n * 4);
  cudaMalloc(&out, n * 4);
  cudaMemcpy(in, values, n * 4, cudaMemcpyHostToDevice);
  step<<<1, 256>>>(in, out, n);
  std::vector<float> host(n);
  cudaMemcpy(host.data(), out, n * 4, cudaMemcpyDeviceToHost);
  return host;
}
extern "C" int waves_step(float* values, int n) {
  try {
    std::memcpy(values, stepped(values, n).data(), n * sizeof(float));
    return 0;
  } catch (const std::invalid_argument&) {
    return 1;
  }
}
