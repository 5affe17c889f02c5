// Loads and stores of pairs of doubles that are not to stay in caches.
#include <cstdio>

__device__ void load(double2& value, const double2* address) {
  double x, y;
  asm volatile("ld.global.cs.v2.f64 {%0, %1}, [%2+0];" : "=d"(x), "=d"(y) : "l"(address));
  value.x = x;
  value.y = y;
}

__device__ void store(double2* address, double x, double y) {
  asm volatile("st.global.cs.v2.f64 [%0], {%1, %2};" ::"l"(address), "d"(x), "d"(y) : "memory");
}

__global__ void swap(double2* values) {
  double2 value;
  load(value, values + threadIdx.x);
  store(values + threadIdx.x, value.y * 2, value.x + 0.5);
}

int main() {
  double2* values;
  cudaMallocManaged(&values, 32 * sizeof(double2));
  for (int i = 0; i < 32; i++) values[i] = make_double2(i, -i);
  swap<<<1, 32>>>(values);
  cudaDeviceSynchronize();
  for (int i : {0, 1, 31}) printf("%g %g\n", values[i].x, values[i].y);
}
