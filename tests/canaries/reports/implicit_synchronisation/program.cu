// Work alternates between the default stream and two blocking streams without any events.
#include <cstdio>

__global__ void step(int* value, int factor, int amount) { *value = *value * factor + amount; }

int main() {
  int *value, host = 0;
  cudaMalloc(&value, sizeof(int));
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaMemset(value, 0, sizeof(int));
  step<<<1, 1, 0, a>>>(value, 1, 1);
  step<<<1, 1>>>(value, 2, 3);
  step<<<1, 1, 0, b>>>(value, 3, 1);
  step<<<1, 1>>>(value, 5, 0);
  step<<<1, 1, 0, a>>>(value, 1, 2);
  cudaMemcpy(&host, value, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d\n", host);
  step<<<1, 1>>>(value, 2, 0);
  cudaStreamSynchronize(b);
  cudaMemcpyAsync(&host, value, sizeof host, cudaMemcpyDeviceToHost, b);
  cudaStreamSynchronize(b);
  printf("%d\n", host);
}
