#include <iostream>
#include <numeric>
#include <stdexcept>
#include <thread>
#include "filter.h"
void warm_up();
int main() {
  std::vector<int> values(9);
  std::iota(values.begin(), values.end(), 1);
  std::thread(warm_up).join();
  cudaStream_t stream;
  if (cudaStreamCreate(&stream) != cudaSuccess) throw std::runtime_error("stream");
  for (int value : evens(values, stream)) std::cout << value << ",";
  try {
    values.at(9);
  } catch (const std::out_of_range&) {
    std::cout << " caught" << std::endl;
  }
}
