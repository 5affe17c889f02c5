// thrust::system::cuda::experimental::pinned_allocator, an allocator of the host's pinned memory.
#pragma once
#include <cuda_runtime_api.h>
#include <thrust/detail/config.h>

#include <cstddef>
#include <limits>
#include <new>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace experimental {
template <typename T>
struct pinned_allocator {
  using value_type = T;
  using pointer = T*;
  using const_pointer = const T*;
  using reference = T&;
  using const_reference = const T&;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  template <typename U>
  struct rebind {
    using other = pinned_allocator<U>;
  };

  __host__ __device__ pinned_allocator() {}
  __host__ __device__ pinned_allocator(const pinned_allocator&) {}
  template <typename U>
  __host__ __device__ pinned_allocator(const pinned_allocator<U>&) {}
  __host__ __device__ ~pinned_allocator() {}
  pinned_allocator& operator=(const pinned_allocator&) = default;

  pointer address(reference r) { return &r; }
  const_pointer address(const_reference r) { return &r; }
  pointer allocate(size_type count, const_pointer = nullptr) {
    void* memory = nullptr;
    if (count > max_size() || cudaMallocHost(&memory, count * sizeof(T)) != cudaSuccess)
      throw std::bad_alloc();
    return static_cast<pointer>(memory);
  }
  void deallocate(pointer memory, size_type) { (void)cudaFreeHost(memory); }
  size_type max_size() const { return (std::numeric_limits<size_type>::max)() / sizeof(T); }
  bool operator==(const pinned_allocator&) const { return true; }
  bool operator!=(const pinned_allocator&) const { return false; }
};
}  // namespace experimental
}  // namespace cuda
}  // namespace system
namespace cuda {
namespace experimental {
using system::cuda::experimental::pinned_allocator;
}  // namespace experimental
}  // namespace cuda
THRUST_NAMESPACE_END
