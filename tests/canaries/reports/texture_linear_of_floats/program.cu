// Bilinear reads of floats at unnormalised coordinates, as a Gaussian pyramid makes them.
#include <cstdio>

__global__ void sample(cudaTextureObject_t texture, float* result) {
  const float x = threadIdx.x * 0.5f, y = threadIdx.y * 0.5f;
  result[threadIdx.y * 8 + threadIdx.x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

int main() {
  const int width = 4, height = 3;
  float host[height][width];
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) host[y][x] = 16 * x + 4 * y * y;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, width, height);
  cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], height, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  printf("%d\n", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  float* result;
  cudaMallocManaged(&result, 64 * sizeof(float));
  sample<<<1, dim3(8, 5)>>>(texture, result);
  cudaDeviceSynchronize();
  for (int y = 0; y < 5; y++) {
    for (int x = 0; x < 8; x++) printf("%g ", result[y * 8 + x]);
    printf("\n");
  }
}
