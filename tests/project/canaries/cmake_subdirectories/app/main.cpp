#include <digits.hpp>
#include <iostream>
int main() {
  int total = 0;
  for (int sum : digit_sums(100)) total += sum;  // 20 of each digit: 20 * 45
  std::cout << total << ' ' << device_error(cudaMalloc(nullptr, 8)) << std::endl;
}
