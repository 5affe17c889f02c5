#ifndef CASS_ROUNDED_QUOTIENTS
#define CASS_ROUNDED_QUOTIENTS
#if defined(__HIPCC__)
// Quotients and square roots with a direction of rounding, which ROCm's device library has not:
// the nearest value, and one step from it where the remainder, known exactly, says so.
namespace cass {
#ifdef __HIP_PLATFORM_NVIDIA__
__device__ inline float fdiv_rd(float a, float b) { return __fdiv_rd(a, b); }
__device__ inline float fsqrt_rd(float a) { return __fsqrt_rd(a); }
__device__ inline float frcp_rd(float a) { return __frcp_rd(a); }
__device__ inline float fdiv_ru(float a, float b) { return __fdiv_ru(a, b); }
__device__ inline float fsqrt_ru(float a) { return __fsqrt_ru(a); }
__device__ inline float frcp_ru(float a) { return __frcp_ru(a); }
__device__ inline float fdiv_rz(float a, float b) { return __fdiv_rz(a, b); }
__device__ inline float fsqrt_rz(float a) { return __fsqrt_rz(a); }
__device__ inline float frcp_rz(float a) { return __frcp_rz(a); }
__device__ inline double ddiv_rd(double a, double b) { return __ddiv_rd(a, b); }
__device__ inline double dsqrt_rd(double a) { return __dsqrt_rd(a); }
__device__ inline double drcp_rd(double a) { return __drcp_rd(a); }
__device__ inline double ddiv_ru(double a, double b) { return __ddiv_ru(a, b); }
__device__ inline double dsqrt_ru(double a) { return __dsqrt_ru(a); }
__device__ inline double drcp_ru(double a) { return __drcp_ru(a); }
__device__ inline double ddiv_rz(double a, double b) { return __ddiv_rz(a, b); }
__device__ inline double dsqrt_rz(double a) { return __dsqrt_rz(a); }
__device__ inline double drcp_rz(double a) { return __drcp_rz(a); }
#else
__device__ inline float next_up(float x) {
  const int bits = __float_as_int(x);
  return x == 0 ? __int_as_float(1) : __int_as_float(x > 0 ? bits + 1 : bits - 1);
}
__device__ inline double next_up(double x) {
  const long long bits = __double_as_longlong(x);
  return x == 0 ? __longlong_as_double(1) : __longlong_as_double(x > 0 ? bits + 1 : bits - 1);
}
// A number with the sign of a - q * b, for q next to a / b: in float's place double holds all.
__device__ inline double remainder_sign(float a, float q, float b) {
  return static_cast<double>(a) - static_cast<double>(q) * b;
}
__device__ inline double remainder_sign(double a, double q, double b) {
  if (q == 0) return a;
  int ea, eq, eb;
  const double ma = frexp(a, &ea), mq = frexp(q, &eq), mb = frexp(b, &eb);
  return fma(-mq, mb, ldexp(ma, ea - eq - eb));
}
// direction: 1 up, -1 down, 0 towards zero. beyond: the sign of (the true value - nearest).
template <typename T>
__device__ inline T stepped(T nearest, double beyond, bool negative, int direction) {
  if (direction == 0) direction = negative ? 1 : -1;
  if (direction > 0) return beyond > 0 ? next_up(nearest) : nearest;
  return beyond < 0 ? -next_up(-nearest) : nearest;
}
template <typename T>
__device__ inline T quotient(T a, T b, T largest, int direction) {
  const T nearest = a / b;
  if (a == 0 || b == 0 || !isfinite(a) || !isfinite(b)) return nearest;
  const bool negative = (a < 0) != (b < 0);
  if (isinf(nearest)) {
    const bool kept = direction == (negative ? -1 : 1);
    return kept ? nearest : (negative ? -largest : largest);
  }
  const double remainder = remainder_sign(a, nearest, b);
  return stepped(nearest, b < 0 ? -remainder : remainder, negative, direction);
}
template <typename T>
__device__ inline T square_root(T a, int direction) {
  const T nearest = sqrt(a);
  if (!(a > 0) || isinf(a)) return nearest;
  return stepped(nearest, remainder_sign(a, nearest, nearest), false, direction);
}
__device__ inline float fdiv_rd(float a, float b) { return quotient<float>(a, b, 3.402823466e+38f, -1); }
__device__ inline float fsqrt_rd(float a) { return square_root<float>(a, -1); }
__device__ inline float frcp_rd(float a) { return quotient<float>(1.0f, a, 3.402823466e+38f, -1); }
__device__ inline float fdiv_ru(float a, float b) { return quotient<float>(a, b, 3.402823466e+38f, 1); }
__device__ inline float fsqrt_ru(float a) { return square_root<float>(a, 1); }
__device__ inline float frcp_ru(float a) { return quotient<float>(1.0f, a, 3.402823466e+38f, 1); }
__device__ inline float fdiv_rz(float a, float b) { return quotient<float>(a, b, 3.402823466e+38f, 0); }
__device__ inline float fsqrt_rz(float a) { return square_root<float>(a, 0); }
__device__ inline float frcp_rz(float a) { return quotient<float>(1.0f, a, 3.402823466e+38f, 0); }
__device__ inline double ddiv_rd(double a, double b) { return quotient<double>(a, b, 1.7976931348623157e+308, -1); }
__device__ inline double dsqrt_rd(double a) { return square_root<double>(a, -1); }
__device__ inline double drcp_rd(double a) { return quotient<double>(1.0, a, 1.7976931348623157e+308, -1); }
__device__ inline double ddiv_ru(double a, double b) { return quotient<double>(a, b, 1.7976931348623157e+308, 1); }
__device__ inline double dsqrt_ru(double a) { return square_root<double>(a, 1); }
__device__ inline double drcp_ru(double a) { return quotient<double>(1.0, a, 1.7976931348623157e+308, 1); }
__device__ inline double ddiv_rz(double a, double b) { return quotient<double>(a, b, 1.7976931348623157e+308, 0); }
__device__ inline double dsqrt_rz(double a) { return square_root<double>(a, 0); }
__device__ inline double drcp_rz(double a) { return quotient<double>(1.0, a, 1.7976931348623157e+308, 0); }
#endif
}  // namespace cass
#endif
#endif
