// So does CUDA: cudaErrorInvalidPitchValue, and nothing is copied.
#include <cstdio>

int main() {
  int *device, host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  printf("%d ", cudaMemcpy2D(device, 16, host, 0, 16, 2, cudaMemcpyHostToDevice));
  printf("%d ", cudaMemcpy2D(device, 8, host, 16, 16, 2, cudaMemcpyHostToDevice));
  printf("%d\n", cudaGetLastError());
  cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost);
  printf("%d %d\n", back[0], back[7]);
  printf("%d ", cudaMemcpy2D(device, 16, host, 16, 16, 2, cudaMemcpyHostToDevice));
  printf("%d\n", cudaGetLastError());
  cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost);
  printf("%d %d\n", back[0], back[7]);
}
