// The runtime's libraries: code that is loaded while the program runs, by the file that is named.
#include <cuda_runtime.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "expect.h"

__global__ void own(int *values) { values[threadIdx.x] += 1; }

int main(int, char **arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  image.push_back(0);
  cudaLibrary_t library;
  cudaKernel_t kernel, absent;
  GOOD(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  GOOD(cudaLibraryGetKernel(&kernel, library, "scale"));
  EXPECT(cudaLibraryGetKernel(&absent, library, "absent") == cudaErrorSymbolNotFound);
  EXPECT(cudaGetLastError() == cudaErrorSymbolNotFound);

  // loaded.cu: scale(values, n): values[i] = values[i] * factor + i.
  void *factor;
  std::size_t bytes = 0;
  GOOD(cudaLibraryGetGlobal(&factor, &bytes, library, "factor"));
  EXPECT(bytes == sizeof(int));
  const int three = 3;
  GOOD(cudaMemcpy(factor, &three, sizeof three, cudaMemcpyHostToDevice));
  int values[100], n = 100, *memory;
  for (int i = 0; i < n; ++i) values[i] = i - 50;
  GOOD(cudaMalloc(&memory, sizeof values));
  GOOD(cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice));
  void *parameters[] = {&memory, &n};
  GOOD(cudaLaunchKernel(kernel, dim3(2), dim3(64), parameters, 0, nullptr));
  cudaLaunchConfig_t given{};
  given.gridDim = dim3(2);
  given.blockDim = dim3(64);
  GOOD(cudaLaunchKernelExC(&given, reinterpret_cast<const void *>(kernel), parameters));
  own<<<1, 100>>>(memory);
  GOOD(cudaMemcpy(values, memory, sizeof values, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(values[i] == ((i - 50) * 3 + i) * 3 + i + 1);

  cudaFuncAttributes attributes;
  GOOD(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel)));
  EXPECT(attributes.binaryVersion == 80 && attributes.maxThreadsPerBlock >= 64);
  int blocks = 0;
  GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void *>(kernel), 64, 0));
  EXPECT(blocks > 0);
  EXPECT(cudaLaunchKernel(kernel, dim3(1), dim3(2048), parameters, 0, nullptr) ==
         cudaErrorInvalidValue);
  GOOD(cudaLibraryUnload(library));
  GOOD(cudaLibraryLoadFromFile(&library, arguments[1], nullptr, nullptr, 0, nullptr, nullptr, 0));
  GOOD(cudaLibraryUnload(library));
  return failures;
}
