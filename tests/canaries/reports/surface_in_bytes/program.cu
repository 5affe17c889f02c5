// A surface of float4 and one of bytes; what a kernel writes another reads by texture and host.
#include <cstdio>

__global__ void write(cudaSurfaceObject_t wide, cudaSurfaceObject_t narrow) {
  const int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite(make_float4(x, y, x * y, 1), wide, x * static_cast<int>(sizeof(float4)), y);
  surf2Dwrite(static_cast<unsigned char>(x + 8 * y), narrow, x, y);
}

__global__ void read(cudaSurfaceObject_t wide, cudaSurfaceObject_t narrow, float* out) {
  const int x = threadIdx.x, y = threadIdx.y;
  float4 value;
  surf2Dread(&value, wide, x * static_cast<int>(sizeof(float4)), y);
  const unsigned char byte = surf2Dread<unsigned char>(narrow, 7 - x, y);
  out[8 * y + x] = value.x + 10 * value.y + 100 * value.z + 1000 * byte;
}

cudaSurfaceObject_t surface(cudaChannelFormatDesc format, cudaArray_t* array) {
  cudaMallocArray(array, &format, 8, 4, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = *array;
  cudaSurfaceObject_t object = 0;
  printf("%d ", cudaCreateSurfaceObject(&object, &resource));
  return object;
}

int main() {
  cudaArray_t wide_array, narrow_array;
  const auto wide = surface(cudaCreateChannelDesc<float4>(), &wide_array);
  const auto narrow = surface(cudaCreateChannelDesc<unsigned char>(), &narrow_array);
  float* out;
  cudaMallocManaged(&out, 32 * sizeof(float));
  write<<<1, dim3(8, 4)>>>(wide, narrow);
  read<<<1, dim3(8, 4)>>>(wide, narrow, out);
  printf("%d\n", cudaDeviceSynchronize());
  printf("%g %g %g\n", out[0], out[8 * 2 + 3], out[31]);
  unsigned char bytes[4][8];
  cudaMemcpy2DFromArray(bytes, 8, narrow_array, 0, 0, 8, 4, cudaMemcpyDeviceToHost);
  printf("%d %d\n", bytes[0][1], bytes[3][7]);
}
