#ifndef CASS_HOST_FUNCTIONS
#define CASS_HOST_FUNCTIONS
#include <cmath>
#include <type_traits>
// Functions that CUDA has for the host as well, and HIP for the device alone; as CUDA's headers have them.
namespace cass {
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrtf(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(1.0 / std::cbrt(static_cast<double>(x))); }
inline float rcbrt(float x) { return rcbrtf(x); }
template <typename T, typename std::enable_if<std::is_arithmetic<T>::value, int>::type = 0>
inline double rsqrt(T x) { return cass::rsqrt(static_cast<double>(x)); }
template <typename T, typename std::enable_if<std::is_arithmetic<T>::value, int>::type = 0>
inline double rcbrt(T x) { return cass::rcbrt(static_cast<double>(x)); }
// A function of the program's own types is found by these.
template <typename T, typename std::enable_if<std::is_class<T>::value, int>::type = 0>
inline auto rsqrt(const T& x) -> decltype(rsqrt(x)) { return rsqrt(x); }
template <typename T, typename std::enable_if<std::is_class<T>::value, int>::type = 0>
inline auto rcbrt(const T& x) -> decltype(rcbrt(x)) { return rcbrt(x); }
}  // namespace cass
#endif
