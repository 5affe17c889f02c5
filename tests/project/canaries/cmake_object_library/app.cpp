#include <iostream>
#include <stdexcept>
#include <vector>
std::vector<int> parts(int n);
int main() {
  for (int value : parts(4)) std::cout << value << " ";
  try {
    parts(33);
  } catch (const std::out_of_range& error) {
    std::cout << error.what() << std::endl;
  }
}
