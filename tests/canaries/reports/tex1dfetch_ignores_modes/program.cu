// A linear buffer's texture with modes that tex1Dfetch does not heed.
#include <cstdio>

__global__ void fetch(cudaTextureObject_t texture, float* result, int count) {
  const int i = threadIdx.x;
  if (i < count) result[i] = tex1Dfetch<float>(texture, count - 1 - i) * 2.0f;
}

int main() {
  float *values, *result;
  cudaMallocManaged(&values, 8 * sizeof(float));
  cudaMallocManaged(&result, 8 * sizeof(float));
  for (int i = 0; i < 8; i++) values[i] = i * i;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = values;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 8 * sizeof(float);
  cudaTextureDesc description = {};
  description.readMode = cudaReadModeElementType;
  description.filterMode = cudaFilterModeLinear;
  description.addressMode[0] = cudaAddressModeWrap;
  cudaTextureObject_t texture = 0;
  printf("%d\n", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  fetch<<<1, 32>>>(texture, result, 8);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; i++) printf("%g ", result[i]);
  printf("\n");
  cudaDestroyTextureObject(texture);
}
