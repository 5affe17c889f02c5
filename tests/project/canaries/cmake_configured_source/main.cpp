#include <iostream>
#include <stdexcept>
#include <vector>
int sum(const int* values, int n);
float sum(const float* values, int n);
double sum(const double* values, int n);
template <class T>
T sum_of(T step) {
  std::vector<T> values;
  for (int i = 0; i < 100; ++i) values.push_back(i * step);
  return sum(values.data(), int(values.size()));
}
int main() {
  std::cout << sum_of(2) << ' ' << sum_of(0.5f) << ' ' << sum_of(0.25) << ' ';
  try {
    sum(static_cast<const float*>(nullptr), 1 << 30);
  } catch (const std::length_error& error) {
    std::cout << error.what() << std::endl;
  }
}
