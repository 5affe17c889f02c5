// Symbols of scalars, arrays, structs and namespaces, by each of the six functions.
#include <cstdio>

namespace model {
struct Limits {
  float low, high;
};
__constant__ Limits limits[2];
__device__ int counter;
}  // namespace model
static __device__ double matrix[2][3];

__global__ void work() {
  model::counter += static_cast<int>(model::limits[1].high);
  for (int i = 0; i < 6; i++) matrix[i / 3][i % 3] += i;
}

template <typename T>
void upload(T& symbol, const void* data, size_t size, cudaStream_t stream) {
  cudaMemcpyToSymbolAsync(symbol, data, size, 0, cudaMemcpyHostToDevice, stream);
}

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const model::Limits limits[2] = {{1, 2}, {3, 40}};
  const int start = 2;
  const double ones[2][3] = {{1, 1, 1}, {1, 1, 1}};
  upload(model::limits, limits, sizeof limits, stream);
  upload(model::counter, &start, sizeof start, stream);
  upload(matrix, ones, sizeof ones, stream);
  work<<<1, 1, 0, stream>>>();
  int counter = 0;
  double back[2][3] = {};
  cudaMemcpyFromSymbolAsync(&counter, model::counter, sizeof counter, 0, cudaMemcpyDeviceToHost, stream);
  cudaMemcpyFromSymbolAsync(back, matrix, sizeof back, 0, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  size_t size = 0;
  void* address = nullptr;
  cudaGetSymbolSize(&size, model::limits);
  cudaGetSymbolAddress(&address, matrix);
  printf("%d %g %g %d %d\n", counter, back[0][0], back[1][2], static_cast<int>(size), address != nullptr);
}
