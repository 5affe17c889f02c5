#include <curand_kernel.h>
#include <cmath>
#include <iostream>
__global__ void set_up(curandState* states, unsigned long long seed) {
  curand_init(seed, threadIdx.x + blockIdx.x * blockDim.x, 0, &states[threadIdx.x + blockIdx.x * blockDim.x]);
}
__global__ void hits(curandState* states, unsigned* count, int n) {
  curandState state = states[threadIdx.x + blockIdx.x * blockDim.x];
  unsigned inside = 0, wrong = 0;
  for (int i = 0; i < n; ++i) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    inside += x * x + y * y <= 1.0f;
    wrong += x <= 0.0f || x > 1.0f;
  }
  states[threadIdx.x + blockIdx.x * blockDim.x] = state;
  atomicAdd(&count[0], inside);
  atomicAdd(&count[1], wrong);
}
__global__ void counted(unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(7ULL, 0, 0, &state);
  const uint4 four = curand4(&state);
  curandStatePhilox4_32_10_t again;
  curand_init(7ULL, 0, 2, &again);
  *out = curand(&again) == four.z;
}
int main() {
  curandState* states;
  unsigned *count, *same;
  cudaMalloc((void**)&states, 128 * sizeof(curandState));
  cudaMallocManaged((void**)&count, 2 * sizeof(unsigned));
  cudaMallocManaged((void**)&same, sizeof(unsigned));
  count[0] = count[1] = 0;
  set_up<<<2, 64>>>(states, 1234ULL);
  hits<<<2, 64>>>(states, count, 500);
  counted<<<1, 1>>>(same);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const double pi = 4.0 * count[0] / (128 * 500);
  // The standard deviation of 64000 points is 0.0065.
  std::cout << (std::fabs(pi - 3.14159265) < 0.04 ? "near" : "far") << ' ' << count[1] << ' ' << *same << std::endl;
}
