#ifndef CASS_BLAS_WORKSPACE
#define CASS_BLAS_WORKSPACE
#define HIPBLAS_V2 1
#define ROCM_MATHLIBS_API_USE_HIP_COMPLEX 1
#define HIPBLAS_USE_HIP_HALF 1
#include <hipblas/hipblas.h>
namespace cass {
// hipBLAS works in memory of its own: a program's workspace stays unused, and results are the same.
inline hipblasStatus_t set_workspace(hipblasHandle_t handle, void*, size_t) {
    return handle == nullptr ? HIPBLAS_STATUS_NOT_INITIALIZED : HIPBLAS_STATUS_SUCCESS;
}
}  // namespace cass
#endif
