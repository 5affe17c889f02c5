#ifndef CASS_EXTREMES
#define CASS_EXTREMES
#if defined(__HIPCC__)
#include <type_traits>
// min and max of two types as CUDA has them: integers in their common type, where HIP compares as double.
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
// A class that is read as a float, c10::Half, beside a float or double: CUDA has (float, double).
template <typename A, typename B>
using class_beside = std::integral_constant<bool, std::is_class<A>::value && std::is_convertible<A, float>::value && std::is_floating_point<B>::value>;
template <typename A, typename B>
using others = std::integral_constant<bool, !both_integers<A, B>::value && !class_beside<A, B>::value && !class_beside<B, A>::value>;
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<others<A, B>::value, typename std::common_type<A, B>::type>::type mixed_min(A a, B b) {
    using ::min;
    return min(a, b);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<others<A, B>::value, typename std::common_type<A, B>::type>::type mixed_max(A a, B b) {
    using ::max;
    return max(a, b);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<class_beside<A, B>::value, B>::type mixed_min(A a, B b) {
    using ::min;
    return min(static_cast<B>(static_cast<float>(a)), b);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<class_beside<A, B>::value, B>::type mixed_max(A a, B b) {
    using ::max;
    return max(static_cast<B>(static_cast<float>(a)), b);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<class_beside<B, A>::value, A>::type mixed_min(A a, B b) {
    return mixed_min(b, a);
}
template <typename A, typename B>
__host__ __device__ inline typename std::enable_if<class_beside<B, A>::value, A>::type mixed_max(A a, B b) {
    return mixed_max(b, a);
}
}  // namespace cass
#endif
#endif
