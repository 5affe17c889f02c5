// Copies and kernels on the thread's own default stream, from two host threads.
#include <cstdio>
#include <thread>

__global__ void scale(int* values, int factor) { values[threadIdx.x] *= factor; }

void work(int* result, int factor) {
  int *values, host[64];
  for (int i = 0; i < 64; i++) host[i] = i;
  cudaMalloc(&values, sizeof host);
  cudaMemcpyAsync(values, host, sizeof host, cudaMemcpyHostToDevice, cudaStreamPerThread);
  scale<<<1, 64, 0, cudaStreamPerThread>>>(values, factor);
  scale<<<1, 64, 0, cudaStreamPerThread>>>(values, factor);
  cudaMemcpyAsync(host, values, sizeof host, cudaMemcpyDeviceToHost, cudaStreamPerThread);
  *result = cudaStreamSynchronize(cudaStreamPerThread);
  for (int value : host) *result += value;
  cudaFree(values);
}

int main() {
  int results[2];
  std::thread other(work, results, 3);
  work(results + 1, 5);
  other.join();
  printf("%d %d\n", results[0], results[1]);
}
