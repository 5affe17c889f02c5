#include <cuda_runtime.h>
#include <iostream>
#include <vector>
__global__ void look(cudaTextureObject_t line, cudaTextureObject_t plane, cudaSurfaceObject_t surface, float* out) {
  out[0] = tex1D<float>(line, 1.0f);          // between 0 and 1: 5
  out[1] = tex2D<float>(plane, 2.5f, 1.5f);   // column 2, row 1: 12
  out[2] = tex2D<float>(plane, -3.0f, 0.5f);  // clamped: 0
  int value;
  surf2Dread(&value, surface, 3 * sizeof(int), 2);
  surf2Dwrite(value + 7, surface, 0, 0);
  out[3] = value;
}
int main() {
  std::vector<float> line{0, 10, 20, 30}, plane;
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 8; ++column) plane.push_back(row * 10 + column);
  cudaArray_t first, second, third;
  const auto floats = cudaCreateChannelDesc<float>();
  cudaMallocArray(&first, &floats, 4);
  cudaMallocArray(&second, &floats, 8, 4);
  const auto ints = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaMallocArray(&third, &ints, 8, 4, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(first, 0, 0, line.data(), 16, 16, 1, cudaMemcpyHostToDevice);
  cudaMemcpy2DToArray(second, 0, 0, plane.data(), 32, 32, 4, cudaMemcpyHostToDevice);
  std::vector<int> numbers(32);
  for (int i = 0; i < 32; ++i) numbers[i] = i;
  cudaMemcpy2DToArray(third, 0, 0, numbers.data(), 32, 32, 4, cudaMemcpyHostToDevice);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  struct {
    cudaSurfaceObject_t line;  // CUDA has one integer type for both
  } held;
  cudaTextureObject_t two;
  cudaSurfaceObject_t three;
  resource.res.array.array = first;
  cudaCreateTextureObject(&held.line, &resource, &how, nullptr);
  how.filterMode = cudaFilterModePoint;
  resource.res.array.array = second;
  cudaCreateTextureObject(&two, &resource, &how, nullptr);
  resource.res.array.array = third;
  cudaCreateSurfaceObject(&three, &resource);
  float* out;
  cudaMallocManaged(&out, 16);
  look<<<1, 1>>>(held.line, two, three, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy2DFromArray(numbers.data(), 32, third, 0, 0, 32, 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4; ++i) std::cout << out[i] << ' ';
  std::cout << numbers[0] << std::endl;  // row 2, column 3: 19; 19 + 7
}
