#include <iostream>
#include <stdexcept>
#include <vector>
int median(const std::vector<int>& given);
int main() try {
  std::cout << median({9, 1, 8, 2, 7, 3, 6}) << std::endl;
  throw std::range_error("end");
} catch (const std::range_error& error) {
  std::cout << error.what() << std::endl;
}
