#include <cusparse.h>
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
  cudaMalloc((void**)&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
int main() {
  std::vector<int> off{0, 3, 4, 7, 9}, col{0, 2, 3, 1, 0, 2, 3, 1, 3};
  std::vector<float> val{1, 2, 3, 4, 5, 6, 7, 8, 9}, x{1, 2, 3, 4}, y(4);
  int *O = up(off), *J = up(col);
  float *V = up(val), *X = up(x), *Y = up(y);
  float al = 1, be = 0;
  cusparseHandle_t h;
  OK(cusparseCreate(&h));
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t dx, dy;
  size_t size = 0;
  void* buffer;
  OK(cusparseCreateCsr(&A, 4, 4, 9, O, J, V, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  OK(cusparseCreateDnVec(&dx, 4, X, CUDA_R_32F));
  OK(cusparseCreateDnVec(&dy, 4, Y, CUDA_R_32F));
  OK(cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &al, A, dx, &be, dy, CUDA_R_32F,
                             CUSPARSE_SPMV_ALG_DEFAULT, &size));
  cudaMalloc(&buffer, size);
  OK(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &al, A, dx, &be, dy, CUDA_R_32F,
                  CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  cudaMemcpy(y.data(), Y, 16, cudaMemcpyDeviceToHost);
  for (float v : y) printf("%g ", v);
  puts("");
  cusparseDestroySpMat(A);
  cusparseDestroyDnVec(dx);
  cusparseDestroyDnVec(dy);
  cusparseDestroy(h);
}
