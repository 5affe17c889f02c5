#include "vectors.h"
#include <iostream>
#include <vector>
__global__ void walk(Real3* places, int steps) {
  Real3 place = make_real3(threadIdx.x, 0, 1);
  const Real3 step = 0.5 * make_real3(1, 2, 4) - make_real3(0, 0, 1);
  for (int i = 0; i < steps; ++i) place += step;
  places[threadIdx.x] = place;
}
__global__ void same(int* out) { *out = make_int3(1, 2, 3) == make_int3(1, 2, 3); }
int main() {
  const int n = 4;
  Real3* device;
  cudaMalloc(&device, n * sizeof(Real3));
  walk<<<1, n>>>(device, 8);
  std::vector<Real3> places(n);
  cudaMemcpy(places.data(), device, n * sizeof(Real3), cudaMemcpyDeviceToHost);
  for (const Real3& place : places) std::cout << dot(place, make_real3(1, 1, 1)) << ' ';
  int *equal, host;
  cudaMalloc(&equal, sizeof(int));
  same<<<1, 1>>>(equal);
  cudaMemcpy(&host, equal, sizeof(int), cudaMemcpyDeviceToHost);
  std::cout << host << std::endl;  // x + 4, 8, 1 + 8: x + 21
}
