// What PyTorch took away from its headers: TH and THC in 1.11, the type of a tensor as an argument
// of AT_DISPATCH later. Each name means what the release notes of PyTorch name as its successor.
// The folders TH and THC lie beside this header: whoever is given this one finds them.
#pragma once
#include <ATen/ceil_div.h>
#include <ATen/core/DeprecatedTypeProperties.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/util/Exception.h>

namespace detail {
inline at::ScalarType scalar_type(const at::DeprecatedTypeProperties& type) {
  return type.scalarType();
}
}  // namespace detail

struct THCState;
template <typename T>
constexpr T THCCeilDiv(T a, T b) {
  return at::ceil_div(a, b);
}
inline void* THCudaMalloc(THCState*, size_t bytes) {
  return c10::cuda::CUDACachingAllocator::raw_alloc(bytes);
}
inline void THCudaFree(THCState*, void* pointer) {
  c10::cuda::CUDACachingAllocator::raw_delete(pointer);
}
inline cudaStream_t THCState_getCurrentStream(THCState*) {
  return at::cuda::getCurrentCUDAStream();
}
#define THCudaCheck(call) C10_CUDA_CHECK(call)
#ifndef AT_CHECK
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#endif
