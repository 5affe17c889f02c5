#include "ways.cuh"
#include <iostream>
#include <thread>
int main() {
  std::vector<unsigned> found;
  std::thread([&found] { found = ways(12); }).join();
  for (unsigned value : found) std::cout << value << " ";
  std::cout << std::endl;
}
