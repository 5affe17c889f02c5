// CUB's radix sort with 64-bit counts: its offsets are 64-bit differences of scaled words.
#include <cub/device/device_radix_sort.cuh>

#include <cstdio>
#include <vector>

__global__ void empty() {}

int main() {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, empty);
  std::printf("%d %d\n", attributes.ptxVersion, attributes.binaryVersion);
  const long long count = 20000;
  std::vector<unsigned long long> keys(count);
  unsigned long long state = 88172645463325252ull;
  for (auto& key : keys) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    key = state;
  }
  unsigned long long *in, *out;
  cudaMalloc(&in, count * sizeof *in);
  cudaMalloc(&out, count * sizeof *out);
  cudaMemcpy(in, keys.data(), count * sizeof *in, cudaMemcpyHostToDevice);
  void* temporary = nullptr;
  std::size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(temporary, bytes, in, out, count);
  cudaMalloc(&temporary, bytes);
  const auto status = cub::DeviceRadixSort::SortKeys(temporary, bytes, in, out, count);
  const auto end = cudaDeviceSynchronize();
  std::vector<unsigned long long> sorted(count);
  cudaMemcpy(sorted.data(), out, count * sizeof *out, cudaMemcpyDeviceToHost);
  long long disorder = 0;
  unsigned long long sum = 0, wanted = 0;
  for (long long i = 0; i < count; ++i) {
    disorder += i > 0 && sorted[i - 1] > sorted[i];
    sum += sorted[i] * 0x9E3779B97F4A7C15ull ^ sorted[i] >> 7;
    wanted += keys[i] * 0x9E3779B97F4A7C15ull ^ keys[i] >> 7;
  }
  std::printf("%d %d out of order %lld, the same keys %d\n", status, end, disorder, sum == wanted);
}
