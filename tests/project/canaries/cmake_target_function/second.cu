#include "shared.cuh"
#include <iostream>
#include <stdexcept>
int main() {
  std::cout << on_device(255, 1) << std::endl;
  try {
    on_device(-1, 1);
  } catch (const std::domain_error&) {
    return 0;
  }
  return 1;
}
