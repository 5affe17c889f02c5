#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>
std::vector<long> cubes(int n);
long sum(const std::vector<long>& values);
int main() {
  long total = 0;
  std::thread([&] { total = sum(cubes(10)); }).join();  // (9 * 10 / 2)^2
  std::cout << total << '\n';
  try {
    cubes(2000);
  } catch (const std::invalid_argument& error) {
    std::cout << error.what() << '\n';
  }
}
