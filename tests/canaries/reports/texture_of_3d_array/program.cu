// A volume of 4 x 3 x 2 floats, read at the centres and between them.
#include <cstdio>

__global__ void read(cudaTextureObject_t texture, float* result, float shift) {
  const int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  result[i] = tex3D<float>(texture, threadIdx.x + shift, threadIdx.y + shift, threadIdx.z + shift);
}

int main() {
  const cudaExtent extent = make_cudaExtent(4, 3, 2);
  float host[24];
  for (int i = 0; i < 24; i++) host[i] = i * 8;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMalloc3DArray(&array, &format, extent);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, 4 * sizeof(float), 4, 3);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  float* result;
  cudaMallocManaged(&result, sizeof host);
  for (auto mode : {cudaFilterModePoint, cudaFilterModeLinear}) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    for (auto& address : description.addressMode) address = cudaAddressModeClamp;
    description.filterMode = mode;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    for (float shift : {0.5f, 1.0f}) {
      read<<<1, dim3(4, 3, 2)>>>(texture, result, shift);
      cudaDeviceSynchronize();
      for (int i = 0; i < 24; i++) printf("%g ", result[i]);
      printf("\n");
    }
    cudaDestroyTextureObject(texture);
  }
}
