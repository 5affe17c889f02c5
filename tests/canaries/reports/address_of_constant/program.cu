// The address of a constant buffer is filled by an ordinary copy and read by a kernel.
#include <cstdio>

__constant__ uint4 buffer[1024];

__global__ void read(uint4* out, const uint4* direct) {
  out[threadIdx.x] = buffer[threadIdx.x * 16];
  out[threadIdx.x].w += direct[threadIdx.x].x;
}

int main() {
  void* address = nullptr;
  printf("%d\n", cudaGetSymbolAddress(&address, buffer));
  static uint4 host[1024];
  for (unsigned i = 0; i < 1024; i++) host[i] = make_uint4(i, 2 * i, 3 * i, 4 * i);
  printf("%d\n", cudaMemcpy(address, host, sizeof host, cudaMemcpyHostToDevice));
  uint4* out;
  cudaMallocManaged(&out, 64 * sizeof(uint4));
  read<<<1, 64>>>(out, static_cast<uint4*>(address));
  cudaDeviceSynchronize();
  for (int i : {0, 1, 63}) printf("%u %u %u %u\n", out[i].x, out[i].y, out[i].z, out[i].w);
}
