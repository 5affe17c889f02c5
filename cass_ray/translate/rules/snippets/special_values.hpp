#ifndef CASS_SPECIAL_VALUES
#define CASS_SPECIAL_VALUES
#if defined(__HIPCC__)
// Functions that HIP has, whose results for some arguments are others than CUDA's.
namespace cass {
// NaN becomes zero.
__device__ inline float saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
// The distance of two ints does not fit an int.
__device__ inline unsigned int sad(int x, int y, unsigned int z) {
    return z + (x > y ? static_cast<unsigned int>(x) - static_cast<unsigned int>(y)
                      : static_cast<unsigned int>(y) - static_cast<unsigned int>(x));
}
__host__ __device__ inline int ilogb(double x) { return x != x ? static_cast<int>(1u << 31) : ::ilogb(x); }
__host__ __device__ inline int ilogb(float x) { return x != x ? static_cast<int>(1u << 31) : ::ilogbf(x); }
template <typename T>
__host__ __device__ inline int ilogb(T x) { return cass::ilogb(static_cast<double>(x)); }
// The exponent is a long: HIP drops the upper half of it.
__host__ __device__ inline int exponent_of(long n) { return n > 9999 ? 9999 : n < -9999 ? -9999 : static_cast<int>(n); }
__host__ __device__ inline double scalbln(double x, long n) { return ::scalbn(x, exponent_of(n)); }
__host__ __device__ inline float scalbln(float x, long n) { return ::scalbnf(x, exponent_of(n)); }
// Three bits of the quotient and its sign; HIP's has more bits.
__host__ __device__ inline int three_bits(int quotient) { return quotient < 0 ? -(-quotient & 7) : quotient & 7; }
__host__ __device__ inline double remquo(double x, double y, int* quotient) {
    const double rest = ::remquo(x, y, quotient);
    *quotient = three_bits(*quotient);
    return rest;
}
__host__ __device__ inline float remquo(float x, float y, int* quotient) {
    const float rest = ::remquof(x, y, quotient);
    *quotient = three_bits(*quotient);
    return rest;
}
// HIP has those of doubles alone under these names.
__host__ __device__ inline void sincos(double x, double* sine, double* cosine) { ::sincos(x, sine, cosine); }
__host__ __device__ inline void sincos(float x, float* sine, float* cosine) { ::sincosf(x, sine, cosine); }
__device__ inline void sincospi(double x, double* sine, double* cosine) { ::sincospi(x, sine, cosine); }
__device__ inline void sincospi(float x, float* sine, float* cosine) { ::sincospif(x, sine, cosine); }
// An odd function; HIP's gives NaN below -8.
__device__ inline double cyl_bessel_i1(double x) { return x < 0.0 ? -::cyl_bessel_i1(-x) : ::cyl_bessel_i1(x); }
__device__ inline float cyl_bessel_i1(float x) { return x < 0.0f ? -::cyl_bessel_i1f(-x) : ::cyl_bessel_i1f(x); }
// HIP's is zero below -33, long before it has no number of its size.
__host__ __device__ inline double tgamma(double x) { return ::tgamma(x); }
__host__ __device__ inline float tgamma(float x) {
    return x < -30.0f ? static_cast<float>(::tgamma(static_cast<double>(x))) : ::tgammaf(x);
}
template <typename T>
__host__ __device__ inline double tgamma(T x) { return cass::tgamma(static_cast<double>(x)); }
// By logarithms, as CUDA's: NaN of a negative number.
__device__ inline float powf_by_logarithm(float x, float y) { return exp2f(y * __log2f(x)); }
}  // namespace cass
#endif
#endif
