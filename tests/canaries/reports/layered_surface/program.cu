// A pyramid in layers: each level is written through a surface, read by a layered texture.
#include <cstdio>

__global__ void level(cudaSurfaceObject_t out, cudaTextureObject_t in, int layer) {
  const int x = threadIdx.x, y = threadIdx.y;
  float value = x + 4 * y;
  if (layer > 0) value = tex2DLayered<float>(in, x + 0.5f, y + 0.5f, layer - 1) * 2 + layer;
  surf2DLayeredwrite(value, out, x * sizeof(float), y, layer);
}

__global__ void collect(cudaTextureObject_t in, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * 4 + y) * 4 + x] = tex2DLayered<float>(in, x + 0.5f, y + 0.5f, z);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  printf("%d ", cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 4, 3),
                                  cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
  cudaSurfaceObject_t surface = 0;
  cudaTextureObject_t texture = 0;
  printf("%d ", cudaCreateSurfaceObject(&surface, &resource));
  printf("%d\n", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  for (int layer = 0; layer < 3; layer++) level<<<1, dim3(4, 4)>>>(surface, texture, layer);
  float* out;
  cudaMallocManaged(&out, 48 * sizeof(float));
  collect<<<1, dim3(4, 4, 3)>>>(texture, out);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", out[5], out[16 + 5], out[32 + 5], out[47]);
}
