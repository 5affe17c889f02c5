#include <iostream>
#include <stdexcept>
#include <vector>
extern "C" void median(const float* in, float* out, int n);
int main() {
  std::vector<float> in{5, 1, 4, 9, 2, 6, 5, 3, 8}, out(in.size());
  median(in.data(), out.data(), int(in.size()));
  for (float value : out) std::cout << value << ' ';
  try {
    median(nullptr, nullptr, 0);
  } catch (const std::invalid_argument& error) {
    std::cout << error.what() << '\n';
  }
}
