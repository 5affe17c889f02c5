#ifndef CASS_BLAS
#define CASS_BLAS
#define HIPBLAS_V2 1
#define ROCM_MATHLIBS_API_USE_HIP_COMPLEX 1
#define HIPBLAS_USE_HIP_HALF 1
#include <hipblas/hipblas.h>
namespace cass {
// cublasSgemmEx: matrices of any of its types, multiplied and added in single precision.
inline hipblasStatus_t sgemm_ex(hipblasHandle_t handle, hipblasOperation_t of_a,
                                hipblasOperation_t of_b, int m, int n, int k, const float* alpha,
                                const void* a, hipDataType type_a, int lda, const void* b,
                                hipDataType type_b, int ldb, const float* beta, void* c,
                                hipDataType type_c, int ldc) {
  return hipblasGemmEx(handle, of_a, of_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                       type_c, ldc, HIPBLAS_COMPUTE_32F, HIPBLAS_GEMM_DEFAULT);
}
// What cublas_api.h makes of a data type where products of mixed types take a compute type.
inline hipblasComputeType_t compute_type(hipblasComputeType_t type) { return type; }
inline hipblasComputeType_t compute_type(hipDataType type) {
  switch (type) {
    case HIP_R_16F: return HIPBLAS_COMPUTE_16F;
    case HIP_R_64F:
    case HIP_C_64F: return HIPBLAS_COMPUTE_64F;
    case HIP_R_32I: return HIPBLAS_COMPUTE_32I;
    default: return HIPBLAS_COMPUTE_32F;
  }
}
}  // namespace cass
#endif
