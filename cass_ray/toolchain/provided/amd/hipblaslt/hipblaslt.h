// The interface of hipBLASLt 0.12 (ROCm 6.4) for installations without AMD's header, which is taken
// where it is there. Names and values are AMD's. The CPU backend's library has all of it but
// transforms of matrices.
#pragma once

#if __has_include_next(<hipblaslt/hipblaslt.h>)
#include_next <hipblaslt/hipblaslt.h>
#else

#if defined(__has_include) && __has_include(<hipblas-common/hipblas-common.h>)
#define CASS_HIPBLASLT_INTERFACE 1
#endif

#ifndef CASS_HIPBLASLT_INTERFACE
// PyTorch's headers name this handle; without hipBLAS's headers nothing can make one.
typedef void* hipblasLtHandle_t;
#else

// Like cublasLt.h it brings the types of the library without "Lt".
#ifndef HIPBLAS_V2
#define HIPBLAS_V2
#endif
#include <hipblas/hipblas.h>

#include <hip/hip_runtime_api.h>
#include <hip/library_types.h>

#include <stddef.h>
#include <stdint.h>

#define HIPBLASLT_EXPORT __attribute__((visibility("default")))
#define HIPBLASLT_VERSION_MAJOR 0
#define HIPBLASLT_VERSION_MINOR 12
#define HIPBLASLT_VERSION_PATCH 0
#define hipblasltVersionMajor HIPBLASLT_VERSION_MAJOR
#define hipblasltVersionMinor HIPBLASLT_VERSION_MINOR
#define hipblasltVersionPatch HIPBLASLT_VERSION_PATCH
#ifdef __cplusplus
#define HIPBLASLT_DATATYPE_INVALID static_cast<hipDataType>(255)
#endif

typedef enum {
  HIPBLASLT_EPILOGUE_DEFAULT = 1,
  HIPBLASLT_EPILOGUE_RELU = 2,
  HIPBLASLT_EPILOGUE_BIAS = 4,
  HIPBLASLT_EPILOGUE_RELU_BIAS = 6,
  HIPBLASLT_EPILOGUE_GELU = 32,
  HIPBLASLT_EPILOGUE_GELU_BIAS = 36,
  HIPBLASLT_EPILOGUE_GELU_AUX = 160,
  HIPBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
  HIPBLASLT_EPILOGUE_DGELU = 192,
  HIPBLASLT_EPILOGUE_DGELU_BGRAD = 208,
  HIPBLASLT_EPILOGUE_BGRADA = 256,
  HIPBLASLT_EPILOGUE_BGRADB = 512
} hipblasLtEpilogue_t;

typedef enum {
  HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 0,
  HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 1,
  HIPBLASLT_MATRIX_LAYOUT_TYPE = 2,
  HIPBLASLT_MATRIX_LAYOUT_ORDER = 3,
  HIPBLASLT_MATRIX_LAYOUT_ROWS = 4,
  HIPBLASLT_MATRIX_LAYOUT_COLS = 5,
  HIPBLASLT_MATRIX_LAYOUT_LD = 6
} hipblasLtMatrixLayoutAttribute_t;

typedef enum {
  HIPBLASLT_POINTER_MODE_HOST = 0,
  HIPBLASLT_POINTER_MODE_DEVICE = 1,
  HIPBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST = 4
} hipblasLtPointerMode_t;

typedef enum {
  HIPBLASLT_MATMUL_DESC_TRANSA = 0,
  HIPBLASLT_MATMUL_DESC_TRANSB = 1,
  HIPBLASLT_MATMUL_DESC_EPILOGUE = 2,
  HIPBLASLT_MATMUL_DESC_BIAS_POINTER = 3,
  HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 4,
  HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER = 5,
  HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER = 6,
  HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER = 7,
  HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER = 8,
  HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER = 9,
  HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 10,
  HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 11,
  HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = 12,
  HIPBLASLT_MATMUL_DESC_POINTER_MODE = 13,
  HIPBLASLT_MATMUL_DESC_AMAX_D_POINTER = 14,
  HIPBLASLT_MATMUL_DESC_COMPUTE_INPUT_TYPE_A_EXT = 100,
  HIPBLASLT_MATMUL_DESC_COMPUTE_INPUT_TYPE_B_EXT = 101,
  HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER_VEC_EXT = 102,
  HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER_VEC_EXT = 103,
  HIPBLASLT_MATMUL_DESC_MAX = 104
} hipblasLtMatmulDescAttributes_t;

typedef enum {
  HIPBLASLT_MATMUL_PREF_SEARCH_MODE = 0,
  HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  HIPBLASLT_MATMUL_PREF_MAX = 2
} hipblasLtMatmulPreferenceAttributes_t;

typedef enum { HIPBLASLT_ORDER_COL = 0, HIPBLASLT_ORDER_ROW = 1 } hipblasLtOrder_t;

typedef void* hipblasLtHandle_t;
typedef enum {
  HIPBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE = 0,
  HIPBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE = 1,
  HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSA = 2,
  HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSB = 3
} hipblasLtMatrixTransformDescAttributes_t;

typedef struct hipblasLtMatmulDescOpaque_t* hipblasLtMatmulDesc_t;
typedef struct hipblasLtMatrixLayoutOpaque_t* hipblasLtMatrixLayout_t;
typedef struct hipblasLtMatmulPreferenceOpaque_t* hipblasLtMatmulPreference_t;
typedef struct hipblasLtMatrixTransformDescOpaque_t* hipblasLtMatrixTransformDesc_t;

typedef struct {
  uint8_t data[16];
  size_t max_workspace_bytes;
} hipblasLtMatmulAlgo_t;

typedef struct {
  hipblasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  hipblasStatus_t state;
  float wavesCount;
  int reserved[4];
} hipblasLtMatmulHeuristicResult_t;

#ifdef __cplusplus
extern "C" {
#endif

HIPBLASLT_EXPORT hipblasStatus_t hipblasLtGetVersion(hipblasLtHandle_t handle, int* version);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t* handle);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t handle);

HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t* layout,
                                                             hipDataType type, uint64_t rows,
                                                             uint64_t cols, int64_t ld);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t layout);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(
    hipblasLtMatrixLayout_t layout, hipblasLtMatrixLayoutAttribute_t attribute, const void* value,
    size_t bytes);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatrixLayoutGetAttribute(
    hipblasLtMatrixLayout_t layout, hipblasLtMatrixLayoutAttribute_t attribute, void* value,
    size_t bytes, size_t* written);

HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t* description,
                                                           hipblasComputeType_t compute,
                                                           hipDataType scale);
HIPBLASLT_EXPORT hipblasStatus_t
hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t description);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatmulDescSetAttribute(
    hipblasLtMatmulDesc_t description, hipblasLtMatmulDescAttributes_t attribute, const void* value,
    size_t bytes);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatmulDescGetAttribute(
    hipblasLtMatmulDesc_t description, hipblasLtMatmulDescAttributes_t attribute, void* value,
    size_t bytes, size_t* written);

HIPBLASLT_EXPORT hipblasStatus_t
hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t* preference);
HIPBLASLT_EXPORT hipblasStatus_t
hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t preference);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(
    hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t attribute,
    const void* value, size_t bytes);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatmulPreferenceGetAttribute(
    hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t attribute,
    void* value, size_t bytes, size_t* written);

HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(
    hipblasLtHandle_t handle, hipblasLtMatmulDesc_t description, hipblasLtMatrixLayout_t a,
    hipblasLtMatrixLayout_t b, hipblasLtMatrixLayout_t c, hipblasLtMatrixLayout_t d,
    hipblasLtMatmulPreference_t preference, int wanted, hipblasLtMatmulHeuristicResult_t results[],
    int* found);
HIPBLASLT_EXPORT hipblasStatus_t hipblasLtMatmul(
    hipblasLtHandle_t handle, hipblasLtMatmulDesc_t description, const void* alpha, const void* A,
    hipblasLtMatrixLayout_t a, const void* B, hipblasLtMatrixLayout_t b, const void* beta,
    const void* C, hipblasLtMatrixLayout_t c, void* D, hipblasLtMatrixLayout_t d,
    const hipblasLtMatmulAlgo_t* algorithm, void* workspace, size_t bytes, hipStream_t stream);

hipblasStatus_t hipblasLtMatrixTransformDescCreate(hipblasLtMatrixTransformDesc_t* description,
                                                   hipDataType scale);
hipblasStatus_t hipblasLtMatrixTransformDescDestroy(hipblasLtMatrixTransformDesc_t description);
hipblasStatus_t hipblasLtMatrixTransformDescSetAttribute(
    hipblasLtMatrixTransformDesc_t description, hipblasLtMatrixTransformDescAttributes_t attribute,
    const void* value, size_t bytes);
hipblasStatus_t hipblasLtMatrixTransform(hipblasLtHandle_t handle,
                                         hipblasLtMatrixTransformDesc_t description,
                                         const void* alpha, const void* a,
                                         hipblasLtMatrixLayout_t layout_a, const void* beta,
                                         const void* b, hipblasLtMatrixLayout_t layout_b, void* c,
                                         hipblasLtMatrixLayout_t layout_c, hipStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
#endif
