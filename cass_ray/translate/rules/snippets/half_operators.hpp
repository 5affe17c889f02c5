#ifndef CASS_HALF_OPERATORS
#define CASS_HALF_OPERATORS
#include <hip/hip_fp16.h>
#include <type_traits>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"  // comparing is what these are for
// Operators of __half and __half2 in host code: HIP's were for device code alone. Through float: its
// 24 bits hold twice the 11 of a half and two more, so that rounding twice is rounding once. They are
// templates, which give way to HIP's own where it has them for both sides.
namespace cass {
template <typename T>
using half_only = typename std::enable_if<std::is_same<T, __half>::value, T>::type;
template <typename T>
using halves_only = typename std::enable_if<std::is_same<T, __half2>::value, T>::type;
template <typename T>
struct same {
    typedef T type;
};
}  // namespace cass
#define CASS_OPERATOR(op)                                                                          \
    template <typename T>                                                                          \
    __host__ inline cass::half_only<T> operator op(const T& a, const T& b) {                       \
        return __float2half(__half2float(a) op __half2float(b));                                    \
    }                                                                                              \
    template <typename T>                                                                          \
    __host__ inline cass::half_only<T>& operator op##=(T& a, const typename cass::same<T>::type& b) { \
        return a = a op b;                                                                         \
    }                                                                                              \
    template <typename T>                                                                          \
    __host__ inline cass::halves_only<T> operator op(const T& a, const T& b) {                     \
        return T(a.x op b.x, a.y op b.y);                                                          \
    }                                                                                              \
    template <typename T>                                                                          \
    __host__ inline cass::halves_only<T>& operator op##=(T& a, const typename cass::same<T>::type& b) { \
        return a = a op b;                                                                         \
    }
CASS_OPERATOR(+)
CASS_OPERATOR(-)
CASS_OPERATOR(*)
CASS_OPERATOR(/)
#undef CASS_OPERATOR
#define CASS_COMPARISON(op)                                                                        \
    template <typename T, typename = cass::half_only<T>>                                           \
    __host__ inline bool operator op(const T& a, const T& b) {                                     \
        return __half2float(a) op __half2float(b);                                               \
    }
CASS_COMPARISON(==)
CASS_COMPARISON(!=)
CASS_COMPARISON(<)
CASS_COMPARISON(<=)
CASS_COMPARISON(>)
CASS_COMPARISON(>=)
#undef CASS_COMPARISON
template <typename T>
__host__ inline cass::half_only<T> operator-(const T& a) {
    return __float2half(-__half2float(a));
}
// The same under the names of CUDA's functions.
#define CASS_FUNCTION(name, op)                                                 \
    template <typename T>                                                       \
    __host__ inline cass::half_only<T> name(T a, typename cass::same<T>::type b) { \
        return a op b;                                                          \
    }                                                                           \
    template <typename T>                                                       \
    __host__ inline cass::halves_only<T> name##2(T a, typename cass::same<T>::type b) { \
        return a op b;                                                          \
    }
CASS_FUNCTION(__hadd, +)
CASS_FUNCTION(__hsub, -)
CASS_FUNCTION(__hmul, *)
#undef CASS_FUNCTION
template <typename T>
__host__ inline cass::half_only<T> __hdiv(T a, typename cass::same<T>::type b) {
    return a / b;
}
template <typename T>
__host__ inline cass::half_only<T> __hneg(T a) {
    return -a;
}
template <typename T>
__host__ inline cass::half_only<T> __habs(T a) {
    return __float2half(__builtin_fabsf(__half2float(a)));
}
#define CASS_COMPARISON(name, op)                                  \
    template <typename T, typename = cass::half_only<T>>           \
    __host__ inline bool name(T a, typename cass::same<T>::type b) { \
        return a op b;                                             \
    }
CASS_COMPARISON(__heq, ==)
CASS_COMPARISON(__hlt, <)
CASS_COMPARISON(__hle, <=)
CASS_COMPARISON(__hgt, >)
CASS_COMPARISON(__hge, >=)
#undef CASS_COMPARISON
#pragma GCC diagnostic pop
#endif
