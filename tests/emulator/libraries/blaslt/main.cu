// cuBLASLt: products of both orders with each epilogue, against loops in double precision.
#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

static const int M = 5, N = 7, K = 6;
static int wrong = 0;

template <typename T>
T* put(const std::vector<T>& values) {
  T* place;
  cudaMalloc(&place, values.size() * sizeof(T));
  cudaMemcpy(place, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return place;
}

static double gelu(double v) {
  return 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
}

static double gelu_gradient(double v) {  // by a difference, not by the formula of the library
  return (gelu(v + 1e-5) - gelu(v - 1e-5)) / 2e-5;
}

static void expect(double value, double expected, double bound, const char* what) {
  if (!(std::fabs(value - expected) <= bound * (1 + std::fabs(expected)))) {
    std::printf("%s: %g, not %g\n", what, value, expected);
    ++wrong;
  }
}

template <typename T>
void check(cublasLtHandle_t handle, cudaDataType type, bool row, cublasLtEpilogue_t epilogue,
           double bound) {
  std::vector<T> a(M * K), b(K * N), c(M * N, T(1.0f)), bias(M), d(M * N), aux(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = T((i * 7 % 11 - 5) / 4.0f);
  for (int i = 0; i < K * N; ++i) b[i] = T((i * 5 % 13 - 6) / 4.0f);
  for (int i = 0; i < M; ++i) bias[i] = T(float(i - 2));
  for (int i = 0; i < M * N; ++i) aux[i] = T((i % 9 - 4) / 2.0f);
  T *A = put(a), *B = put(b), *C = put(c), *D = put(d), *E = put(bias), *X = put(aux);
  cublasLtMatmulDesc_t operation;
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasOperation_t t = CUBLAS_OP_T, n = CUBLAS_OP_N;
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &n, sizeof n);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                 sizeof epilogue);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &E, sizeof E);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &X,
                                 sizeof X);
  const int64_t ld = row ? N : M;
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld);
  cublasLtMatrixLayout_t la, lb, lc;
  const cublasLtOrder_t order = row ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  cublasLtMatrixLayoutCreate(&la, type, K, M, row ? M : K);
  cublasLtMatrixLayoutCreate(&lb, type, K, N, row ? N : K);
  cublasLtMatrixLayoutCreate(&lc, type, M, N, ld);
  for (auto layout : {la, lb, lc}) {
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
  }
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  cublasLtMatmulAlgoGetHeuristic(handle, operation, la, lb, lc, lc, preference, 1, &result, &found);
  const float alpha = 2, beta = -1;
  const auto status = cublasLtMatmul(handle, operation, &alpha, A, la, B, lb, &beta, C, lc, D, lc,
                                     &result.algo, nullptr, 0, 0);
  if (epilogue == CUBLASLT_EPILOGUE_BGRADA) {
    wrong += status == CUBLAS_STATUS_SUCCESS || found != 0;  // refused, not left out
    return;
  }
  wrong += status != CUBLAS_STATUS_SUCCESS || found != 1;
  std::vector<T> seen(M * N), sums(M);
  cudaMemcpy(d.data(), D, d.size() * sizeof(T), cudaMemcpyDeviceToHost);
  cudaMemcpy(seen.data(), X, seen.size() * sizeof(T), cudaMemcpyDeviceToHost);
  cudaMemcpy(sums.data(), E, sums.size() * sizeof(T), cudaMemcpyDeviceToHost);
  for (int i = 0; i < M; ++i) {
    double total = 0;
    for (int j = 0; j < N; ++j) {
      const int at = row ? i * N + j : i + j * M;
      double value = -1;
      for (int k = 0; k < K; ++k) {
        value += 2.0 * float(row ? a[k * M + i] : a[k + i * K]) *
                 float(row ? b[k * N + j] : b[k + j * K]);
      }
      if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) value = std::fmax(value + float(bias[i]), 0.0);
      if (epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) {
        value += float(bias[i]);
        expect(float(seen[at]), value, bound, "aux");
        value = gelu(value);
      }
      if (epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD) value *= gelu_gradient(float(aux[at]));
      expect(float(d[at]), value, bound, "D");
      total += value;
    }
    if (epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD) expect(float(sums[i]), total, bound, "sum");
  }
}

int main() {
  cublasLtHandle_t handle;
  if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 2;
  for (bool row : {false, true}) {
    for (auto epilogue :
         {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
          CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA}) {
      check<float>(handle, CUDA_R_32F, row, epilogue, 1e-5);
      check<half>(handle, CUDA_R_16F, row, epilogue, 2e-3);
    }
  }
  cublasLtDestroy(handle);
  std::printf("wrong: %d\n", wrong);
  return wrong != 0;
}
