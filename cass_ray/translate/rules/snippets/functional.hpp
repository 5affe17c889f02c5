#ifndef CASS_FUNCTIONAL
#define CASS_FUNCTIONAL
#include <type_traits>
// cuda::std::identity (as Thrust's own: its algorithms ask for the result of a const argument), cuda::maximum, cuda::minimum and quotients of whole numbers of libcu++.
namespace cass {
struct identity {
    template <typename T>
    __host__ __device__ constexpr const T& operator()(const T& value) const noexcept { return value; }
};
template <typename T = void>
struct maximum {
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <>
struct maximum<void> {
    template <typename A, typename B>
    __host__ __device__ constexpr typename std::common_type<A, B>::type operator()(const A& a, const B& b) const {
        return a < b ? b : a;
    }
};
template <typename T = void>
struct minimum {
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <>
struct minimum<void> {
    template <typename A, typename B>
    __host__ __device__ constexpr typename std::common_type<A, B>::type operator()(const A& a, const B& b) const {
        return b < a ? b : a;
    }
};
template <typename A, typename B>
__host__ __device__ constexpr typename std::common_type<A, B>::type ceil_div(A a, B b) {
    using T = typename std::common_type<A, B>::type;
    return static_cast<T>(static_cast<T>(a) / static_cast<T>(b) + (static_cast<T>(a) % static_cast<T>(b) != 0));
}
template <typename A, typename B>
__host__ __device__ constexpr typename std::common_type<A, B>::type round_up(A a, B b) {
    return static_cast<typename std::common_type<A, B>::type>(ceil_div(a, b) * b);
}
template <typename A, typename B>
__host__ __device__ constexpr typename std::common_type<A, B>::type round_down(A a, B b) {
    return static_cast<typename std::common_type<A, B>::type>(a - a % b);
}
}  // namespace cass
#endif
