#include <cufft.h>
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
  const int n = 16;
  std::vector<cufftComplex> a(n);
  for (int i = 0; i < n; ++i) {
    a[i].x = i % 5 - 2;
    a[i].y = i % 3;
  }
  cufftComplex* d;
  cudaMalloc(&d, n * sizeof *d);
  cudaMemcpy(d, a.data(), n * sizeof *d, cudaMemcpyHostToDevice);
  cufftHandle p;
  OK(cufftPlan1d(&p, n, CUFFT_C2C, 1));
  OK(cufftExecC2C(p, d, d, CUFFT_FORWARD));
  cudaMemcpy(a.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost);
  for (auto v : a) printf("%.4f %.4f\n", v.x, v.y);
  OK(cufftDestroy(p));
  const int m = 12;
  std::vector<double> r(m * m);
  for (int i = 0; i < m * m; ++i) r[i] = (i * 7) % 11 - 5;
  double* dr;
  cufftDoubleComplex* dc;
  cudaMalloc(&dr, 8 * m * m);
  cudaMalloc(&dc, 16 * m * (m / 2 + 1));
  cudaMemcpy(dr, r.data(), 8 * m * m, cudaMemcpyHostToDevice);
  OK(cufftPlan2d(&p, m, m, CUFFT_D2Z));
  OK(cufftExecD2Z(p, dr, dc));
  cufftHandle q;
  OK(cufftPlan2d(&q, m, m, CUFFT_Z2D));
  OK(cufftExecZ2D(q, dc, dr));
  std::vector<double> back(m * m);
  cudaMemcpy(back.data(), dr, 8 * m * m, cudaMemcpyDeviceToHost);
  double e = 0;
  for (int i = 0; i < m * m; ++i) e = std::max(e, std::abs(back[i] / (m * m) - r[i]));
  printf("error %d\n", e < 1e-12);
}
