#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <iostream>
#include <string>
template <int BLOCK>
__global__ void prefix(const int* in, int* out) {
  using Scan = cub::BlockScan<int, BLOCK>;
  __shared__ typename Scan::TempStorage storage;
  int value = in[threadIdx.x], sum;
  Scan(storage).InclusiveSum(value, sum);
  out[threadIdx.x] = sum;
}
int main() {
  thrust::device_vector<int> numbers(64), sums(64);
  thrust::sequence(numbers.begin(), numbers.end(), 1);
  prefix<64><<<1, 64>>>(thrust::raw_pointer_cast(numbers.data()), thrust::raw_pointer_cast(sums.data()));
  cudaDeviceSynchronize();
  std::cout << sums[63];  // 64 * 65 / 2
  thrust::device_vector<int> keys(numbers.size());
  thrust::transform(thrust::device, numbers.begin(), numbers.end(), keys.begin(),
                    [] __device__(int value) { return value * 37 % 67; });
  thrust::sort(keys.begin(), keys.end(), thrust::greater<int>());
  std::cout << ' ' << keys[0] << ' ' << keys.back();
  size_t bytes = 0;
  int* largest;
  cudaMalloc(&largest, sizeof(int));
  const int* begin = thrust::raw_pointer_cast(keys.data());
  cub::DeviceReduce::Max(nullptr, bytes, begin, largest, 64);
  thrust::device_vector<char> memory(bytes);
  cub::DeviceReduce::Max(thrust::raw_pointer_cast(memory.data()), bytes, begin, largest, 64);
  int host;
  cudaMemcpy(&host, largest, sizeof(int), cudaMemcpyDeviceToHost);
  const int sum = thrust::reduce(numbers.begin(), numbers.end(), 0, thrust::plus<int>());
  std::cout << ' ' << host << ' ' << sum << std::endl;
}
