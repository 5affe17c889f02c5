#ifndef CASS_EXTREMES
#define CASS_EXTREMES
#include <type_traits>
// min and max of two integer types, in their common type as CUDA has them; HIP compares as double.
namespace cass {
template <typename A, typename B>
using both_integers = std::integral_constant<bool, std::is_integral<A>::value && std::is_integral<B>::value>;
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<both_integers<A, B>::value, decltype(A() + B())>::type mixed_min(A a, B b) {
    typedef decltype(A() + B()) common;
    return static_cast<common>(b) < static_cast<common>(a) ? static_cast<common>(b) : static_cast<common>(a);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<both_integers<A, B>::value, decltype(A() + B())>::type mixed_max(A a, B b) {
    typedef decltype(A() + B()) common;
    return static_cast<common>(a) < static_cast<common>(b) ? static_cast<common>(b) : static_cast<common>(a);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<!both_integers<A, B>::value, typename std::common_type<A, B>::type>::type mixed_min(A a, B b) {
    using ::min;
    return min(a, b);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<!both_integers<A, B>::value, typename std::common_type<A, B>::type>::type mixed_max(A a, B b) {
    using ::max;
    return max(a, b);
}
}  // namespace cass
#endif
