// thrust::detail::has_trivial_assign, as Thrust 2.1 defined it.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/detail/type_traits.h>
#include <cuda/std/type_traits>

THRUST_NAMESPACE_BEGIN
namespace detail {
template <typename T>
struct has_trivial_assign
    : ::cuda::std::bool_constant<(::cuda::std::is_trivial<T>::value &&
                                  ::cuda::std::is_standard_layout<T>::value &&
                                  !::cuda::std::is_const<T>::value) ||
                                 ::cuda::std::is_trivially_copy_assignable<T>::value> {};
}  // namespace detail
THRUST_NAMESPACE_END
