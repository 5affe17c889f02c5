#ifndef CASS_HOST_EXTREMES
#define CASS_HOST_EXTREMES
#if defined(__HIPCC__) && !defined(__HIP_PLATFORM_NVIDIA__)
#include <cmath>
// min and max for the host as CUDA has them: HIP has those of int, to which it would convert a float.
#define CASS_HOST_EXTREMES_OF(common, first, second) \
    __host__ static inline common min(first a, second b) { \
        return static_cast<common>(b) < static_cast<common>(a) ? static_cast<common>(b) : static_cast<common>(a); \
    } \
    __host__ static inline common max(first a, second b) { \
        return static_cast<common>(a) < static_cast<common>(b) ? static_cast<common>(b) : static_cast<common>(a); \
    }
CASS_HOST_EXTREMES_OF(unsigned int, unsigned int, unsigned int)
CASS_HOST_EXTREMES_OF(unsigned int, int, unsigned int)
CASS_HOST_EXTREMES_OF(unsigned int, unsigned int, int)
CASS_HOST_EXTREMES_OF(long, long, long)
CASS_HOST_EXTREMES_OF(unsigned long, unsigned long, unsigned long)
CASS_HOST_EXTREMES_OF(unsigned long, long, unsigned long)
CASS_HOST_EXTREMES_OF(unsigned long, unsigned long, long)
CASS_HOST_EXTREMES_OF(long long, long long, long long)
CASS_HOST_EXTREMES_OF(unsigned long long, unsigned long long, unsigned long long)
CASS_HOST_EXTREMES_OF(unsigned long long, long long, unsigned long long)
CASS_HOST_EXTREMES_OF(unsigned long long, unsigned long long, long long)
#undef CASS_HOST_EXTREMES_OF
__host__ static inline float min(float a, float b) { return std::fmin(a, b); }
__host__ static inline float max(float a, float b) { return std::fmax(a, b); }
__host__ static inline double min(double a, double b) { return std::fmin(a, b); }
__host__ static inline double max(double a, double b) { return std::fmax(a, b); }
__host__ static inline double min(float a, double b) { return std::fmin(static_cast<double>(a), b); }
__host__ static inline double max(float a, double b) { return std::fmax(static_cast<double>(a), b); }
__host__ static inline double min(double a, float b) { return std::fmin(a, static_cast<double>(b)); }
__host__ static inline double max(double a, float b) { return std::fmax(a, static_cast<double>(b)); }
#endif
#endif
