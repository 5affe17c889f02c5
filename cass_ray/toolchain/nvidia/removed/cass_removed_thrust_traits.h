// Traits of types that Thrust had in thrust::detail, and that are libcu++'s since.
#pragma once
#include <thrust/detail/type_traits.h>
#include <cuda/std/type_traits>
namespace thrust {
namespace detail {
using ::cuda::std::add_const;
using ::cuda::std::add_volatile;
using ::cuda::std::conditional;
using ::cuda::std::enable_if;
using ::cuda::std::is_arithmetic;
using ::cuda::std::is_base_of;
using ::cuda::std::is_const;
using ::cuda::std::is_convertible;
using ::cuda::std::is_floating_point;
using ::cuda::std::is_integral;
using ::cuda::std::is_pointer;
using ::cuda::std::is_reference;
using ::cuda::std::is_same;
using ::cuda::std::is_void;
using ::cuda::std::is_volatile;
using ::cuda::std::remove_const;
using ::cuda::std::remove_cv;
using ::cuda::std::remove_reference;
using ::cuda::std::remove_volatile;
template <typename... Ts>
struct and_ : ::cuda::std::conjunction<Ts...> {};
template <typename... Ts>
struct or_ : ::cuda::std::disjunction<Ts...> {};
}  // namespace detail
}  // namespace thrust
