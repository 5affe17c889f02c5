#include <iostream>
#include <stdexcept>
#include <vector>
int longest_of(const int* values, int n);
int main() {
  std::vector<int> values;
  for (int i = 0; i < 100; ++i) values.push_back(i * 37 % 101);  // 37 has order 101: 1 ... 100 but one
  std::cout << longest_of(values.data(), 100) << '\n';
  try {
    longest_of(nullptr, 0);
  } catch (const std::length_error& error) {
    std::cout << error.what() << '\n';
  }
}
