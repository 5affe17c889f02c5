#ifndef CASS_HOST_FUNCTIONS
#define CASS_HOST_FUNCTIONS
#include <cmath>
// Functions that CUDA has for the host as well, and HIP for the device alone; as CUDA's headers have them.
namespace cass {
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrt(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline float rcbrt(float x) { return static_cast<float>(1.0 / std::cbrt(static_cast<double>(x))); }
template <typename T>
inline double rsqrt(T x) { return cass::rsqrt(static_cast<double>(x)); }
template <typename T>
inline double rcbrt(T x) { return cass::rcbrt(static_cast<double>(x)); }
}  // namespace cass
#endif
