// rocThrust has the memory of thrust::universal_host_pinned_vector and not the vector.
#pragma once
#include_next <thrust/universal_vector.h>
#include <thrust/version.h>

#if THRUST_VERSION < 200800  // CCCL 2.8 brought it

#include <thrust/detail/vector_base.h>
#include <thrust/mr/allocator.h>
#include <thrust/mr/device_memory_resource.h>

namespace thrust {
template <typename T>
using universal_host_pinned_vector = thrust::detail::vector_base<
    T, thrust::mr::stateless_resource_allocator<T, thrust::universal_host_pinned_memory_resource>>;
}  // namespace thrust
#endif
