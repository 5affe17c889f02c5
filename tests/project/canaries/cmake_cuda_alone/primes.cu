#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>
__global__ void mark(bool* composite, int n) {
  const int factor = threadIdx.x + 2;
  for (int i = 2 * factor; i < n; i += factor) composite[i] = true;
}
int main() {
  constexpr int n = 50;
  bool* composite;
  if (cudaMallocManaged(&composite, n) != cudaSuccess) throw std::bad_alloc();
  mark<<<1, 8>>>(composite, n);
  cudaDeviceSynchronize();
  std::vector<int> primes;
  std::thread collect([&] {
    for (int i = 2; i < n; ++i)
      if (!composite[i]) primes.push_back(i);
  });
  collect.join();
  for (int prime : primes) std::cout << prime << (prime == primes.back() ? "\n" : " ");
}
