#ifndef CASS_SPECIAL_VALUES
#define CASS_SPECIAL_VALUES
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
}  // namespace cass
#endif
