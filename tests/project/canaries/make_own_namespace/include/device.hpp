#pragma once
#include <cuda_runtime.h>
#include <stdexcept>
#include <string>
namespace cuda {
class error : public std::runtime_error {
 public:
  explicit error(cudaError_t code) : std::runtime_error(std::string("device: ") + name(code)) {}
  static const char* name(cudaError_t code) { return code == cudaErrorInvalidValue ? "wrong value" : cudaGetErrorName(code); }
};
inline void check(cudaError_t code) {
  if (code != cudaSuccess) throw error(code);
}
template <class T>
class array {
 public:
  explicit array(size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(T))); }
  array(const array&) = delete;
  ~array() { cudaFree(data_); }
  T* data() { return data_; }
  void read(T* out) const { check(cudaMemcpy(out, data_, size_ * sizeof(T), cudaMemcpyDeviceToHost)); }
 private:
  size_t size_;
  T* data_ = nullptr;
};
namespace math {
template <class T>
__device__ T min(T a, T b) { return b < a ? b : a; }
__device__ inline int max(int a, int b) { return a > b ? a : b; }
}  // namespace math
}  // namespace cuda
