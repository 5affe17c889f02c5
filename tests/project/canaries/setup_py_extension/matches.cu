#include "matches.h"
#include <stdexcept>
__global__ void find(const char* text, int places, const char* part, int length, int* found) {
  const int start = threadIdx.x;
  if (start >= places) return;
  for (int i = 0; i < length; ++i)
    if (text[start + i] != part[i]) return;
  atomicAdd(found, 1);
}
int count(const std::string& text, const std::string& part, cudaStream_t stream) {
  if (part.empty()) throw std::invalid_argument("nothing to look for");
  char* device;
  int *found, host = 0;
  const int places = static_cast<int>(text.size() - part.size()) + 1;
  cudaMalloc(&device, text.size() + part.size());
  cudaMalloc(&found, sizeof(int));
  cudaMemcpyAsync(device, (text + part).data(), text.size() + part.size(), cudaMemcpyHostToDevice, stream);
  cudaMemsetAsync(found, 0, sizeof(int), stream);
  find<<<1, 256, 0, stream>>>(device, places, device + text.size(), static_cast<int>(part.size()), found);
  cudaMemcpyAsync(&host, found, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  return host;
}
