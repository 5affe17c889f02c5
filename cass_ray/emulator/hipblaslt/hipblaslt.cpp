// hipBLASLt for the CPU backend: products by hipBLAS (AMD's rocBLAS), epilogues on the host.
//
// Debian has no hipBLASLt. What is not here is refused: HIPBLAS_STATUS_NOT_SUPPORTED, and a line on
// standard error that names it.
#include "hipblaslt/hipblaslt.h"

#include "epilogue.h"

#include <hip/hip_runtime_api.h>
#include <hipblas/hipblas.h>

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

struct hipblasLtMatmulDescOpaque_t {
  hipblasComputeType_t compute;
  hipDataType scale;
  int32_t transA = HIPBLAS_OP_N, transB = HIPBLAS_OP_N;
  uint32_t epilogue = HIPBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  int32_t biasType = -1;
  void* aux = nullptr;
  int64_t auxLd = 0, auxStride = 0;
  int32_t pointerMode = HIPBLASLT_POINTER_MODE_HOST;
  const char* refused = nullptr;  // an attribute that was set and is not provided
};

struct hipblasLtMatrixLayoutOpaque_t {
  int32_t type;
  uint64_t rows, cols;
  int64_t ld;
  int32_t order = HIPBLASLT_ORDER_COL;
  int32_t batch = 1;
  int64_t stride = 0;
};

struct hipblasLtMatmulPreferenceOpaque_t {
  uint32_t search = 0;
  uint64_t workspace = 0;
};

namespace {

using Layout = hipblasLtMatrixLayoutOpaque_t;
using Description = hipblasLtMatmulDescOpaque_t;

hipblasStatus_t refuse(const char* what) {
  std::fprintf(stderr, "hipBLASLt of the CPU backend: %s is not provided\n", what);
  return HIPBLAS_STATUS_NOT_SUPPORTED;
}

struct Field {
  void* place;
  size_t bytes;
};

template <typename T>
Field field(T& value) {
  return {&value, sizeof(T)};
}

hipblasStatus_t put(Field to, const void* value, size_t bytes) {
  if (to.place == nullptr || value == nullptr || bytes < to.bytes) {
    return HIPBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(to.place, value, to.bytes);
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t get(Field from, void* value, size_t bytes, size_t* written) {
  if (from.place == nullptr || (bytes != 0 && (value == nullptr || bytes < from.bytes))) {
    return HIPBLAS_STATUS_INVALID_VALUE;
  }
  if (bytes != 0) {
    std::memcpy(value, from.place, from.bytes);
  }
  if (written != nullptr) {
    *written = from.bytes;
  }
  return HIPBLAS_STATUS_SUCCESS;
}

Field field_of(Layout& layout, hipblasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return field(layout.batch);
    case HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return field(layout.stride);
    case HIPBLASLT_MATRIX_LAYOUT_TYPE: return field(layout.type);
    case HIPBLASLT_MATRIX_LAYOUT_ORDER: return field(layout.order);
    case HIPBLASLT_MATRIX_LAYOUT_ROWS: return field(layout.rows);
    case HIPBLASLT_MATRIX_LAYOUT_COLS: return field(layout.cols);
    case HIPBLASLT_MATRIX_LAYOUT_LD: return field(layout.ld);
  }
  return {nullptr, 0};
}

Field field_of(Description& of, hipblasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case HIPBLASLT_MATMUL_DESC_TRANSA: return field(of.transA);
    case HIPBLASLT_MATMUL_DESC_TRANSB: return field(of.transB);
    case HIPBLASLT_MATMUL_DESC_EPILOGUE: return field(of.epilogue);
    case HIPBLASLT_MATMUL_DESC_BIAS_POINTER: return field(of.bias);
    case HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return field(of.biasType);
    case HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return field(of.aux);
    case HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return field(of.auxLd);
    case HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: return field(of.auxStride);
    case HIPBLASLT_MATMUL_DESC_POINTER_MODE: return field(of.pointerMode);
    default: return {nullptr, 0};
  }
}

Field field_of(hipblasLtMatmulPreferenceOpaque_t& of, hipblasLtMatmulPreferenceAttributes_t which) {
  switch (which) {
    case HIPBLASLT_MATMUL_PREF_SEARCH_MODE: return field(of.search);
    case HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return field(of.workspace);
    default: return {nullptr, 0};
  }
}

// A product as BLAS has it, of matrices by columns: d (m x n) = op(a) op(b).
struct Product {
  int m, n, k;
  hipblasOperation_t opA, opB;
  const Layout *a, *b;
  bool swapped;  // a is the caller's B: rows of D are columns here
};

hipblasOperation_t turned(int32_t operation) {
  return operation == HIPBLAS_OP_N ? HIPBLAS_OP_T : HIPBLAS_OP_N;
}

// A matrix by rows is the transpose of one by columns. Types here are real: C is T.
hipblasOperation_t by_columns(const Layout& layout, int32_t operation) {
  const auto real = operation == HIPBLAS_OP_N ? HIPBLAS_OP_N : HIPBLAS_OP_T;
  return layout.order == HIPBLASLT_ORDER_ROW ? turned(real) : real;
}

bool known(int32_t type) {
  return type == HIP_R_32F || type == HIP_R_64F || type == HIP_R_16F || type == HIP_R_16BF;
}

const char* not_provided(const Description& of, const Layout& a, const Layout& b, const Layout& c,
                         const Layout& d) {
  if (of.refused != nullptr) {
    return of.refused;
  }
  if (of.pointerMode == HIPBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) {
    return "a vector as alpha";
  }
  if (!cass::known_epilogue(of.epilogue)) {
    return "this epilogue";
  }
  if (!known(a.type) || a.type != b.type || c.type != d.type ||
      (d.type != a.type && (d.type != HIP_R_32F || a.type == HIP_R_64F))) {
    return "this combination of types";
  }
  if (of.scale != (a.type == HIP_R_64F ? HIP_R_64F : HIP_R_32F)) {
    return "this type of alpha and beta";
  }
  if (c.order != d.order) {
    return "C in another order than D";
  }
  return nullptr;
}

bool product_of(const Description& of, const Layout& a, const Layout& b, const Layout& c,
                const Layout& d, Product& made) {
  const uint64_t m = of.transA == HIPBLAS_OP_N ? a.rows : a.cols;
  const uint64_t k = of.transA == HIPBLAS_OP_N ? a.cols : a.rows;
  const uint64_t n = of.transB == HIPBLAS_OP_N ? b.cols : b.rows;
  if (k != (of.transB == HIPBLAS_OP_N ? b.rows : b.cols) || d.rows != m || d.cols != n ||
      c.rows != m || c.cols != n || a.batch != d.batch || b.batch != d.batch ||
      c.batch != d.batch) {
    return false;
  }
  const auto opA = by_columns(a, of.transA), opB = by_columns(b, of.transB);
  if (d.order == HIPBLASLT_ORDER_ROW) {  // transposed on both sides
    made = {int(n), int(m), int(k), turned(opB), turned(opA), &b, &a, true};
  } else {
    made = {int(m), int(n), int(k), opA, opB, &a, &b, false};
  }
  return true;
}

// What is added in the place of D where an epilogue follows: in single precision, packed.
Layout scratch_of(const Product& product, const Layout& d) {
  Layout made = d;
  made.type = d.type == HIP_R_64F ? HIP_R_64F : HIP_R_32F;
  made.ld = product.m;
  made.stride = int64_t(product.m) * product.n;
  return made;
}

hipblasStatus_t multiply(hipblasHandle_t blas, const Description& of, const Product& product,
                         const void* alpha, const void* A, const void* B, const void* beta, void* D,
                         const Layout& d) {
  const bool device = of.pointerMode == HIPBLASLT_POINTER_MODE_DEVICE;
  hipblasSetPointerMode(blas, device ? HIPBLAS_POINTER_MODE_DEVICE : HIPBLAS_POINTER_MODE_HOST);
  const auto compute = d.type == HIP_R_64F ? HIPBLAS_COMPUTE_64F : HIPBLAS_COMPUTE_32F;
  return hipblasGemmStridedBatchedEx(
      blas, product.opA, product.opB, product.m, product.n, product.k, alpha, A,
      hipDataType(product.a->type), int(product.a->ld), product.a->stride, B,
      hipDataType(product.b->type), int(product.b->ld), product.b->stride, beta, D,
      hipDataType(d.type), int(d.ld), d.stride, d.batch, compute, HIPBLAS_GEMM_DEFAULT);
}

hipError_t copy(const Product& product, const void* from, const Layout& c, void* to,
                const Layout& d, hipStream_t stream) {
  const size_t width = cass::bytes_of(d.type);
  for (int each = 0; each < d.batch; ++each) {
    const auto status =
        hipMemcpy2DAsync(static_cast<char*>(to) + each * d.stride * width, d.ld * width,
                         static_cast<const char*>(from) + each * c.stride * width, c.ld * width,
                         product.m * width, product.n, hipMemcpyDeviceToDevice, stream);
    if (status != hipSuccess) {
      return status;
    }
  }
  return hipSuccess;
}

bool is_zero(const Description& of, const void* value) {
  if (of.pointerMode != HIPBLASLT_POINTER_MODE_HOST || value == nullptr) {
    return value == nullptr;
  }
  return of.scale == HIP_R_64F ? *static_cast<const double*>(value) == 0
                               : *static_cast<const float*>(value) == 0;
}

hipblasStatus_t with_epilogue(hipblasHandle_t blas, const Description& of, const Product& product,
                              const void* alpha, const void* A, const void* B, const void* beta,
                              const void* C, const Layout& c, void* D, const Layout& d,
                              hipStream_t stream) {
  hipStreamCaptureStatus capturing = hipStreamCaptureStatusNone;
  if (hipStreamIsCapturing(stream, &capturing) == hipSuccess &&
      capturing != hipStreamCaptureStatusNone) {
    return refuse("an epilogue in a stream that is captured");
  }
  const Layout scratch = scratch_of(product, d);
  const size_t values = size_t(scratch.stride) * d.batch;
  const size_t bytes = values * cass::bytes_of(scratch.type);
  void* sum = nullptr;
  if (hipMalloc(&sum, bytes) != hipSuccess) {
    return HIPBLAS_STATUS_ALLOC_FAILED;
  }
  cass::Epilogue work{of.epilogue, product.m, product.n, d.batch, product.swapped};
  hipblasStatus_t status = HIPBLAS_STATUS_SUCCESS;
  std::vector<double> host(values);
  if (!is_zero(of, beta)) {
    if (!work.read(C, c.type, c.ld, c.stride, host, stream) ||
        !work.write(sum, scratch.type, scratch.ld, scratch.stride, host)) {
      status = HIPBLAS_STATUS_EXECUTION_FAILED;
    }
  } else {
    hipMemsetAsync(sum, 0, bytes, stream);
  }
  if (status == HIPBLAS_STATUS_SUCCESS) {
    status = multiply(blas, of, product, alpha, A, B, beta, sum, scratch);
  }
  if (status == HIPBLAS_STATUS_SUCCESS) {
    const int32_t biasType = of.biasType < 0 ? d.type : of.biasType;
    const int64_t auxLd = of.auxLd != 0 ? of.auxLd : d.ld;
    const bool done = work.read(sum, scratch.type, scratch.ld, scratch.stride, host, stream) &&
                      work.apply(host, of.bias, biasType, of.aux, d.type, auxLd, of.auxStride) &&
                      work.write(D, d.type, d.ld, d.stride, host);
    status = done ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_EXECUTION_FAILED;
  }
  hipFree(sum);
  return status;
}

}  // namespace

extern "C" {

hipblasStatus_t hipblasLtGetVersion(hipblasLtHandle_t, int* version) {
  *version = HIPBLASLT_VERSION_MAJOR * 100000 + HIPBLASLT_VERSION_MINOR * 100;
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t* handle) {
  if (handle == nullptr) {
    return HIPBLAS_STATUS_INVALID_VALUE;
  }
  return hipblasCreate(reinterpret_cast<hipblasHandle_t*>(handle));
}

hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t handle) {
  return hipblasDestroy(static_cast<hipblasHandle_t>(handle));
}

hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t* layout, hipDataType type,
                                            uint64_t rows, uint64_t cols, int64_t ld) {
  if (layout == nullptr) {
    return HIPBLAS_STATUS_INVALID_VALUE;
  }
  *layout = new Layout{int32_t(type), rows, cols, ld};
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t layout) {
  delete layout;
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t layout,
                                                  hipblasLtMatrixLayoutAttribute_t attribute,
                                                  const void* value, size_t bytes) {
  return put(field_of(*layout, attribute), value, bytes);
}

hipblasStatus_t hipblasLtMatrixLayoutGetAttribute(hipblasLtMatrixLayout_t layout,
                                                  hipblasLtMatrixLayoutAttribute_t attribute,
                                                  void* value, size_t bytes, size_t* written) {
  return get(field_of(*layout, attribute), value, bytes, written);
}

hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t* description,
                                          hipblasComputeType_t compute, hipDataType scale) {
  if (description == nullptr) {
    return HIPBLAS_STATUS_INVALID_VALUE;
  }
  *description = new Description{compute, scale};
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t description) {
  delete description;
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t description,
                                                hipblasLtMatmulDescAttributes_t attribute,
                                                const void* value, size_t bytes) {
  const Field place = field_of(*description, attribute);
  if (place.place != nullptr) {
    return put(place, value, bytes);
  }
  void* pointer = nullptr;
  std::memcpy(&pointer, value, bytes < sizeof pointer ? bytes : sizeof pointer);
  if (pointer != nullptr) {  // no scale is a scale of one
    description->refused = "a scale of a matrix, the largest value of D or a type of input";
  }
  return pointer == nullptr ? HIPBLAS_STATUS_SUCCESS : refuse(description->refused);
}

hipblasStatus_t hipblasLtMatmulDescGetAttribute(hipblasLtMatmulDesc_t description,
                                                hipblasLtMatmulDescAttributes_t attribute,
                                                void* value, size_t bytes, size_t* written) {
  return get(field_of(*description, attribute), value, bytes, written);
}

hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t* preference) {
  *preference = new hipblasLtMatmulPreferenceOpaque_t;
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t preference) {
  delete preference;
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(
    hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t attribute,
    const void* value, size_t bytes) {
  return put(field_of(*preference, attribute), value, bytes);
}

hipblasStatus_t hipblasLtMatmulPreferenceGetAttribute(
    hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t attribute,
    void* value, size_t bytes, size_t* written) {
  return get(field_of(*preference, attribute), value, bytes, written);
}

hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(
    hipblasLtHandle_t, hipblasLtMatmulDesc_t description, hipblasLtMatrixLayout_t a,
    hipblasLtMatrixLayout_t b, hipblasLtMatrixLayout_t c, hipblasLtMatrixLayout_t d,
    hipblasLtMatmulPreference_t, int wanted, hipblasLtMatmulHeuristicResult_t results[],
    int* found) {
  *found = 0;
  Product product;
  if (!product_of(*description, *a, *b, *c, *d, product)) {
    return HIPBLAS_STATUS_INVALID_VALUE;
  }
  if (const char* what = not_provided(*description, *a, *b, *c, *d)) {
    return refuse(what);
  }
  if (wanted > 0) {
    results[0] = {};
    results[0].wavesCount = 1;
    *found = 1;
  }
  return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t description,
                                const void* alpha, const void* A, hipblasLtMatrixLayout_t a,
                                const void* B, hipblasLtMatrixLayout_t b, const void* beta,
                                const void* C, hipblasLtMatrixLayout_t c, void* D,
                                hipblasLtMatrixLayout_t d, const hipblasLtMatmulAlgo_t*, void*,
                                size_t, hipStream_t stream) {
  Product product;
  if (handle == nullptr || !product_of(*description, *a, *b, *c, *d, product)) {
    return HIPBLAS_STATUS_INVALID_VALUE;
  }
  if (const char* what = not_provided(*description, *a, *b, *c, *d)) {
    return refuse(what);
  }
  if (product.swapped) {
    std::swap(A, B);
  }
  const auto blas = static_cast<hipblasHandle_t>(handle);
  hipblasSetStream(blas, stream);
  if (description->epilogue != HIPBLASLT_EPILOGUE_DEFAULT) {
    return with_epilogue(blas, *description, product, alpha, A, B, beta, C, *c, D, *d, stream);
  }
  if (C != D && C != nullptr && !is_zero(*description, beta) &&
      copy(product, C, *c, D, *d, stream) != hipSuccess) {
    return HIPBLAS_STATUS_EXECUTION_FAILED;
  }
  return multiply(blas, *description, product, alpha, A, B, beta, D, *d);
}

}  // extern "C"
