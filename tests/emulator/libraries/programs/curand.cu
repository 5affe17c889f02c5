#include <curand.h>
#include <cstdio>
#include <vector>
#define OK(x)                              \
  do {                                     \
    auto status = (x);                     \
    if (status) {                          \
      printf("%s: %d\n", #x, (int)status); \
      return 1;                            \
    }                                      \
  } while (0)
int main() {
  const int n = 1 << 16;
  float* d;
  cudaMalloc(&d, 4 * n);
  std::vector<float> v(n);
  curandGenerator_t g;
  OK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  OK(curandSetPseudoRandomGeneratorSeed(g, 1234ULL));
  OK(curandGenerateUniform(g, d, n));
  cudaMemcpy(v.data(), d, 4 * n, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float x : v) s += x;
  printf("mean %.3f\n", s / n);
  OK(curandGenerateNormal(g, d, n, 1.f, 2.f));
  cudaMemcpy(v.data(), d, 4 * n, cudaMemcpyDeviceToHost);
  double t = 0;
  s = 0;
  for (float x : v) {
    s += x;
    t += x * x;
  }
  printf("mean %.2f var %.1f\n", s / n, t / n - s / n * s / n);
  curandDestroyGenerator(g);
}
