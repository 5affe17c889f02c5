#include "heap.cuh"
#include "minitest.hpp"
__global__ void sort(const unsigned* in, unsigned* out, int n) {
  Heap<unsigned, 64> heap;
  heap.size = 0;
  for (int i = 0; i < n; ++i) heap.push(in[i] + threadIdx.x);
  for (int i = 0; i < n; ++i) out[threadIdx.x * n + i] = heap.pop();
}
TEST(sorts_on_a_device) {
  const int n = 50, threads = 4;
  unsigned in[n], out[n * threads], *device_in, *device_out;
  for (int i = 0; i < n; ++i) in[i] = i * 31 % n;
  REQUIRE(cudaMalloc(&device_in, sizeof(in)) == cudaSuccess);
  REQUIRE(cudaMalloc(&device_out, sizeof(out)) == cudaSuccess);
  cudaMemcpy(device_in, in, sizeof(in), cudaMemcpyHostToDevice);
  sort<<<1, threads>>>(device_in, device_out, n);
  REQUIRE(cudaMemcpy(out, device_out, sizeof(out), cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int thread = 0; thread < threads; ++thread)
    for (int i = 0; i < n; ++i) REQUIRE(out[thread * n + i] == unsigned(i + thread));
}
TEST(sorts_on_the_host) {
  Heap<float, 8> heap{{}, 0};
  for (float key : {3.f, 1.f, 2.f}) heap.push(key);
  REQUIRE(heap.pop() == 1.f);
  REQUIRE(heap.pop() == 2.f);
}
TEST(knows_what_fails) {
  bool thrown = false;
  try {
    REQUIRE(1 == 2);
  } catch (const minitest::failure& why) {
    thrown = why.what == "1 == 2";
  }
  REQUIRE(thrown);
}
int main() { return minitest::run(); }
