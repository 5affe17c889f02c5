// A volume is written through a surface and read by texture and surface.
#include <cstdio>

__global__ void write(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  surf3Dwrite(100 * z + 10 * y + x, surface, x * sizeof(int), y, z);
}

__global__ void read(cudaSurfaceObject_t surface, cudaTextureObject_t texture, int* out) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int i = (z * blockDim.y + y) * blockDim.x + x;
  out[i] = surf3Dread<int>(surface, x * sizeof(int), y, z) * 1000 + tex3D<int>(texture, x, y, z);
}

int main() {
  const cudaExtent extent = make_cudaExtent(4, 3, 2);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  printf("%d ", cudaMalloc3DArray(&array, &format, extent, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  cudaSurfaceObject_t surface = 0;
  cudaTextureObject_t texture = 0;
  printf("%d ", cudaCreateSurfaceObject(&surface, &resource));
  printf("%d ", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  int* out;
  cudaMallocManaged(&out, 24 * sizeof(int));
  write<<<1, dim3(4, 3, 2)>>>(surface);
  read<<<1, dim3(4, 3, 2)>>>(surface, texture, out);
  printf("%d\n", cudaDeviceSynchronize());
  printf("%d %d %d\n", out[0], out[7], out[23]);
}
