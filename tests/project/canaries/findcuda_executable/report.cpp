#include <iostream>
#include <vector>
#ifdef BASE
#error "OPTIONS are for nvcc alone"
#endif
std::vector<long> powers(int n);
int main() {
  for (long value : powers(3)) std::cout << value << "\n";
}
