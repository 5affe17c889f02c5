#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <complex>
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
template <class T>
void show(const char* n, T* p, int k) {
  std::vector<T> v(k);
  cudaMemcpy(v.data(), p, k * sizeof(T), cudaMemcpyDeviceToHost);
  printf("%s", n);
  for (auto x : v) printf(" %.6g", (double)x);
  puts("");
}
int main() {
  cublasHandle_t h;
  OK(cublasCreate(&h));
  cudaStream_t s;
  cudaStreamCreate(&s);
  OK(cublasSetStream(h, s));
  int m = 3, n = 4, k = 5;
  std::vector<float> a(m * k), b(k * n), c(m * n, 1.f), x(k), y(m);
  for (int i = 0; i < m * k; ++i) a[i] = i % 7 - 3;
  for (int i = 0; i < k * n; ++i) b[i] = i % 5 - 2;
  for (int i = 0; i < k; ++i) x[i] = i + 1;
  float *A = up(a), *B = up(b), *C = up(c), *X = up(x), *Y = up(y);
  float al = 2, be = 0.5;
  OK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &al, A, m, B, k, &be, C, m));
  cudaStreamSynchronize(s);
  show("sgemm", C, m * n);
  OK(cublasSgemv(h, CUBLAS_OP_N, m, k, &al, A, m, X, 1, &be, Y, 1));
  cudaStreamSynchronize(s);
  show("sgemv", Y, m);
  float r;
  OK(cublasSdot(h, k, X, 1, X, 1, &r));
  printf("sdot %g\n", r);
  OK(cublasSnrm2(h, k, X, 1, &r));
  printf("snrm2 %g\n", r);
  int idx;
  OK(cublasIsamax(h, k, X, 1, &idx));
  printf("isamax %d\n", idx);
  OK(cublasSasum(h, k, X, 1, &r));
  printf("sasum %g\n", r);
  OK(cublasSscal(h, k, &al, X, 1));
  OK(cublasSaxpy(h, k, &al, X, 1, X, 1));
  cudaStreamSynchronize(s);
  show("x", X, k);
  std::vector<double> da(a.begin(), a.end()), db(b.begin(), b.end()), dc(m * n);
  double *DA = up(da), *DB = up(db), *DC = up(dc);
  double dal = 1, dbe = 0;
  OK(cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &dal, DA, m, DB, k, &dbe, DC, m));
  cudaStreamSynchronize(s);
  show("dgemm", DC, m * n);
  std::vector<__half> ha(m * k), hb(k * n), hc(m * n);
  for (int i = 0; i < m * k; ++i) ha[i] = __float2half(a[i]);
  for (int i = 0; i < k * n; ++i) hb[i] = __float2half(b[i]);
  __half *HA = up(ha), *HB = up(hb), *HC = up(hc);
  OK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &al, HA, CUDA_R_16F, m, HB, CUDA_R_16F, k,
                  &be, HC, CUDA_R_16F, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  cudaStreamSynchronize(s);
  cudaMemcpy(hc.data(), HC, m * n * 2, cudaMemcpyDeviceToHost);
  printf("gemmex");
  for (auto v : hc) printf(" %g", __half2float(v));
  puts("");
  std::vector<cuComplex> ca(4), cc(4);
  for (int i = 0; i < 4; ++i) ca[i] = make_cuComplex(i, 1 - i);
  cuComplex *CA = up(ca), *CC = up(cc), one = make_cuComplex(1, 0), zero = make_cuComplex(0, 0);
  OK(cublasCgemm(h, CUBLAS_OP_C, CUBLAS_OP_N, 2, 2, 2, &one, CA, 2, CA, 2, &zero, CC, 2));
  cudaStreamSynchronize(s);
  cudaMemcpy(cc.data(), CC, 32, cudaMemcpyDeviceToHost);
  printf("cgemm");
  for (auto v : cc) printf(" %g%+gi", cuCrealf(v), cuCimagf(v));
  puts("");
  float* ptrs[2] = {A, A};
  float* bptrs[2] = {B, B};
  float* cptrs[2] = {C, C + 0};
  (void)ptrs;
  (void)bptrs;
  (void)cptrs;
  OK(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, m, 2, k, &al, A, m, 0, B, k, 2 * k, &be,
                               C, m, 2 * m, 2));
  cudaStreamSynchronize(s);
  show("batched", C, m * n);
  OK(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, m, 1,
                 &al, A, m, Y, m));
  cudaStreamSynchronize(s);
  show("strsm", Y, m);
  OK(cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, k, m, &al, A, m, &be, A, k, C, k));
  cublasDestroy(h);
  puts("done");
}
