// Layers of lines: a surface of shorts is written, and read by both forms of the function.
#include <cstdio>

__global__ void write(cudaSurfaceObject_t surface) {
  const short value = static_cast<short>(threadIdx.x + 100 * threadIdx.y);
  surf1DLayeredwrite(value, surface, threadIdx.x * sizeof(short), threadIdx.y);
}

__global__ void read(cudaSurfaceObject_t surface, int* out) {
  const int x = threadIdx.x, layer = threadIdx.y;
  short value;
  surf1DLayeredread(&value, surface, x * sizeof(short), layer);
  out[layer * 8 + x] =
      value + 1000 * surf1DLayeredread<short>(surface, (7 - x) * sizeof(short), 2 - layer);
}

int main() {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<short>();
  printf("%d ", cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 0, 3),
                                  cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  printf("%d\n", cudaCreateSurfaceObject(&surface, &resource));
  int* out;
  cudaMallocManaged(&out, 24 * sizeof(int));
  write<<<1, dim3(8, 3)>>>(surface);
  read<<<1, dim3(8, 3)>>>(surface, out);
  cudaDeviceSynchronize();
  printf("%d %d %d\n", out[0], out[9], out[23]);
}
