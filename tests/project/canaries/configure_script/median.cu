#include <vector>
__global__ void sort(int* values, int n) {
  for (int round = 0; round < n; ++round) {
    const int i = 2 * threadIdx.x + round % 2;
    if (i + 1 < n && values[i] > values[i + 1]) {
      const int kept = values[i];
      values[i] = values[i + 1];
      values[i + 1] = kept;
    }
    __syncthreads();
  }
}
int median(const std::vector<int>& given) {
  const int n = static_cast<int>(given.size());
  int *device, middle;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemcpy(device, given.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sort<<<1, 32>>>(device, n);
  cudaMemcpy(&middle, device + n / 2, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return middle;
}
