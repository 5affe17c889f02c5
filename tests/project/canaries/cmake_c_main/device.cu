#include <iostream>
#include <memory>
#include <string>
#include <vector>
__global__ void reverse(char* text, int length) {
  const int i = threadIdx.x;
  if (i < length / 2) {
    const char kept = text[i];
    text[i] = text[length - 1 - i];
    text[length - 1 - i] = kept;
  }
}
extern "C" void print_reversed(const char* given) {
  std::string text(given);
  char* device;
  cudaMalloc(&device, text.size());
  cudaMemcpy(device, text.data(), text.size(), cudaMemcpyHostToDevice);
  reverse<<<1, 32>>>(device, static_cast<int>(text.size()));
  std::vector<char> back(text.size());
  cudaMemcpy(back.data(), device, text.size(), cudaMemcpyDeviceToHost);
  std::cout << std::string(back.begin(), back.end()) << std::endl;
}
