#include <collatz.h>
#include <cuda_runtime.h>
#include <iostream>
#include <stdexcept>
int main() {
  int count = 0;
  cudaGetDeviceCount(&count);
  const std::vector<int> steps = collatz(100);
  // Known: 27 takes 111 steps, 97 takes 118, the most below 100.
  std::cout << (count > 0) << ' ' << steps[26] << ' ' << steps[96] << std::endl;
  try {
    collatz(0);
  } catch (const std::out_of_range& error) {
    std::cout << error.what() << std::endl;
  }
}
