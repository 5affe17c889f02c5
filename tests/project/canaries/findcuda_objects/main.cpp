#include <iostream>
#include <stdexcept>
#include "arithmetic.h"
int main() {
  try {
    std::cout << add(multiply(4)) << std::endl;
    check(cudaErrorMemoryAllocation);
  } catch (const std::runtime_error& error) {
    std::cout << "caught" << std::endl;
  }
}
