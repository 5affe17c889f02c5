#include <halves.h>
#include <iostream>
#include <stdexcept>
int main() {
  for (float value : halve({1, 3, 4096, 0.25f})) std::cout << value << ' ';
  try {
    halve({1});
  } catch (const std::invalid_argument& error) {
    std::cout << error.what() << '\n';
  }
}
