#include <iostream>
#include <stdexcept>
#include "norms.h"
int main() {
  float3* points;
  float* lengths;
  if (cudaMallocManaged((void**)&points, 2 * sizeof(float3)) != cudaSuccess) return 1;
  if (cudaMallocManaged((void**)&lengths, 2 * sizeof(float)) != cudaSuccess) return 1;
  points[0] = make_float3(2, 3, 6);
  points[1] = make_float3(1, 4, 8);
  try {
    const cudaError_t error = norms(points, 2, lengths);
    if (error != cudaSuccess) throw std::runtime_error(name(error));
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << std::endl;
    return 1;
  }
  std::cout << lengths[0] << " " << lengths[1] << std::endl;
}
