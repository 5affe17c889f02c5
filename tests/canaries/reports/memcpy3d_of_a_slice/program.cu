// One column of each row of three planes goes to the corner of a host array.
#include <cstdio>

__global__ void fill(cudaPitchedPtr volume, int n) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  reinterpret_cast<int*>(static_cast<char*>(volume.ptr) + (z * n + y) * volume.pitch)[x] =
      (z * n + y) * n + x;
}

int main() {
  const int n = 4;
  cudaPitchedPtr volume;
  cudaMalloc3D(&volume, make_cudaExtent(n * sizeof(int), n, n));
  fill<<<1, dim3(n, n, n)>>>(volume, n);
  int host[64];
  for (int& value : host) value = 133;
  for (bool by_position : {false, true}) {
    cudaMemcpy3DParms copy = {};
    if (by_position) {
      copy.srcPtr = volume;
      copy.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
      copy.dstPos = make_cudaPos(1 * sizeof(int), 0, 1);
    } else {
      copy.srcPtr = make_cudaPitchedPtr(static_cast<char*>(volume.ptr) + 3 * sizeof(int), volume.pitch, n, n);
    }
    copy.dstPtr = make_cudaPitchedPtr(host, n * sizeof(int), n, n);
    copy.extent = make_cudaExtent(sizeof(int), 3, 3);
    copy.kind = cudaMemcpyDeviceToHost;
    printf("%d\n", cudaMemcpy3D(&copy));
    for (int i = 0; i < 64; i++)
      if (host[i] != 133) printf("%d=%d ", i, host[i]);
    printf("\n");
  }
}
