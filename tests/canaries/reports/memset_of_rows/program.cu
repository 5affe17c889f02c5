// A part of each row and plane is set to zeros; what is around it stays.
#include <cstdio>

__global__ void fill(cudaPitchedPtr volume, int n) {
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++)
        reinterpret_cast<int*>(static_cast<char*>(volume.ptr) + (z * n + y) * volume.pitch)[x] =
            (z * n + y) * n + x;
}

int sum(cudaPitchedPtr volume, int n) {
  int host[64], total = 0;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(host, n * sizeof(int), n, n);
  copy.extent = make_cudaExtent(n * sizeof(int), n, n);
  copy.kind = cudaMemcpyDeviceToHost;
  printf("%d ", cudaMemcpy3D(&copy));
  for (int i = 0; i < n * n * n; i++) total += host[i];
  return total;
}

int main() {
  const int n = 4;
  cudaPitchedPtr volume;
  cudaMalloc3D(&volume, make_cudaExtent(n * sizeof(int), n, n));
  fill<<<1, 1>>>(volume, n);
  printf("%d\n", sum(volume, n));
  cudaPitchedPtr part = make_cudaPitchedPtr(volume.ptr, volume.pitch, n, n);
  printf("%d ", cudaMemset3D(part, 0, make_cudaExtent(2 * sizeof(int), 3, 4)));
  printf("%d\n", sum(volume, n));
  printf("%d ", cudaMemset2D(static_cast<char*>(volume.ptr) + 3 * sizeof(int), volume.pitch, 0, sizeof(int), 7));
  printf("%d\n", sum(volume, n));
}
