#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static void check(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(error));
}

__global__ void count(const char* text, int length, unsigned* bins) {
  __shared__ unsigned own[26];
  if (threadIdx.x < 26) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) {
    const char letter = text[i];
    if (letter >= 'a' && letter <= 'z') atomicAdd(&own[letter - 'a'], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 26) bins[threadIdx.x] = own[threadIdx.x];
}

int main() try {
  const std::string text = "a kernel counts the letters of a text";
  char* device;
  unsigned* bins;
  check(cudaMalloc(&device, text.size()), "text");
  check(cudaMalloc(&bins, 26 * sizeof(unsigned)), "bins");
  check(cudaMemcpy(device, text.data(), text.size(), cudaMemcpyHostToDevice), "copy");
  count<<<1, 64>>>(device, static_cast<int>(text.size()), bins);
  check(cudaGetLastError(), "launch");
  std::vector<unsigned> host(26);
  check(cudaMemcpy(host.data(), bins, 26 * sizeof(unsigned), cudaMemcpyDeviceToHost), "back");
  std::map<char, unsigned> found;
  for (int i = 0; i < 26; ++i)
    if (host[i] > 3) found[static_cast<char>('a' + i)] = host[i];
  for (const auto& [letter, number] : found) std::cout << letter << " " << number << "\n";
  check(cudaErrorInvalidValue, "asked for");
} catch (const std::exception& error) {
  std::cout << "caught " << std::string(error.what()).substr(0, 9) << std::endl;
  return 0;
}
