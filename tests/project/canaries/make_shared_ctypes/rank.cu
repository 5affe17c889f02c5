#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>
__global__ void rank(const int* values, int n, int* ranks) {
  const int i = threadIdx.x;
  if (i >= n) return;
  int below = 0;
  for (int j = 0; j < n; ++j) below += values[j] < values[i];
  ranks[i] = below;
}
static std::string last_error;
extern "C" const char* rank_error() { return last_error.c_str(); }
extern "C" int rank_all(const int* values, int n, int* ranks) {
  try {
    if (n > 1024) throw std::length_error("more than " + std::to_string(1024));
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, values, n * sizeof(int), cudaMemcpyHostToDevice);
    rank<<<1, 1024>>>(in, n, out);
    std::vector<int> back(n);
    cudaMemcpy(back.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::copy(back.begin(), back.end(), ranks);
    cudaFree(in);
    cudaFree(out);
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}
