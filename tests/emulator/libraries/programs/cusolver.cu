#include <cuda_runtime.h>
#include <cusolverDn.h>
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
template <class T>
T* up(const std::vector<T>& v) {
  T* p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
int main() {
  const int n = 3;
  std::vector<double> a{4, 2, 1, 2, 5, 3, 1, 3, 6}, b{1, 2, 3};
  double *A = up(a), *B = up(b), *W;
  int *piv, *info, lw;
  cudaMalloc(&piv, 4 * n);
  cudaMalloc(&info, 4);
  cusolverDnHandle_t h;
  OK(cusolverDnCreate(&h));
  OK(cusolverDnDgetrf_bufferSize(h, n, n, A, n, &lw));
  cudaMalloc(&W, 8 * lw);
  OK(cusolverDnDgetrf(h, n, n, A, n, W, piv, info));
  OK(cusolverDnDgetrs(h, CUBLAS_OP_N, n, 1, A, n, piv, B, n, info));
  cudaMemcpy(b.data(), B, 8 * n, cudaMemcpyDeviceToHost);
  for (double x : b) printf("%.6f ", x);
  puts("");
  A = up(a);
  double* E;
  cudaMalloc(&E, 8 * n);
  OK(cusolverDnDsyevd_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, A, n, E,
                                 &lw));
  cudaMalloc(&W, 8 * lw);
  OK(cusolverDnDsyevd(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, A, n, E, W, lw,
                      info));
  cudaMemcpy(b.data(), E, 8 * n, cudaMemcpyDeviceToHost);
  for (double x : b) printf("%.6f ", x);
  puts("");
  cusolverDnDestroy(h);
}
