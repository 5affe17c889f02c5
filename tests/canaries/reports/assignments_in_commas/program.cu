// Structs are assigned within expressions, conditionally and in loops.
#include <cstdio>

struct State {
  short a;
  int b;
  unsigned char c[3];
};

__device__ __noinline__ State next(State s, int step) {
  State t = s;
  return t.b += step, t.c[step % 3] ^= static_cast<unsigned char>(t.b), t.a = t.a * 3 + 1, t;
}

__global__ void work(int* result, int start) {
  State x = {static_cast<short>(start), start + 1, {1, 2, 3}}, y = {}, z;
  for (int i = 0; i < 5; i++)
    z = (y = x, x = next(y, i + threadIdx.x), y.b > 2 ? (y = x) : (x.a++, x));
  result[threadIdx.x] = ((x.a * 7 + x.b) * 7 + y.b) * 7 + z.c[0] + z.c[1] + z.c[2] + y.a;
}

int main() {
  int* result;
  cudaMallocManaged(&result, 4 * sizeof(int));
  work<<<1, 4>>>(result, -3);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; i++) printf("%d\n", result[i]);
}
