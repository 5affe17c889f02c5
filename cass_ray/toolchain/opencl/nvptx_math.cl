/*
 * OpenCL math built-ins on top of CUDA's libdevice.
 *
 * LLVM's libclc leaves native_exp and its like as LLVM intrinsics, which its NVPTX back end cannot
 * lower; and NVIDIA's own OpenCL compiler takes these functions from libdevice, so this gives code
 * closer to the driver's. Linked before libclc, the definitions here win. Compiled with
 * -cl-no-stdinc: the vector types are declared here.
 */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VECTOR(type, n) typedef type type##n __attribute__((ext_vector_type(n)))
#define VECTORS(type) \
  VECTOR(type, 2); VECTOR(type, 3); VECTOR(type, 4); VECTOR(type, 8); VECTOR(type, 16)
VECTORS(float);
VECTORS(double);
VECTORS(int);

#define OVERLOAD __attribute__((overloadable, always_inline))

/* name(x) for all vectors from its scalar form: halves, down to pairs. */
#define WIDEN1(name, r, t)                                                                   \
  OVERLOAD r##2 name(t##2 x) { return (r##2)(name(x.x), name(x.y)); }                        \
  OVERLOAD r##3 name(t##3 x) { return (r##3)(name(x.x), name(x.y), name(x.z)); }             \
  OVERLOAD r##4 name(t##4 x) { return (r##4)(name(x.lo), name(x.hi)); }                      \
  OVERLOAD r##8 name(t##8 x) { return (r##8)(name(x.lo), name(x.hi)); }                      \
  OVERLOAD r##16 name(t##16 x) { return (r##16)(name(x.lo), name(x.hi)); }
#define WIDEN2(name, t, u)                                                                   \
  OVERLOAD t##2 name(t##2 x, u##2 y) { return (t##2)(name(x.x, y.x), name(x.y, y.y)); }      \
  OVERLOAD t##3 name(t##3 x, u##3 y) {                                                       \
    return (t##3)(name(x.x, y.x), name(x.y, y.y), name(x.z, y.z));                           \
  }                                                                                          \
  OVERLOAD t##4 name(t##4 x, u##4 y) { return (t##4)(name(x.lo, y.lo), name(x.hi, y.hi)); }  \
  OVERLOAD t##8 name(t##8 x, u##8 y) { return (t##8)(name(x.lo, y.lo), name(x.hi, y.hi)); }  \
  OVERLOAD t##16 name(t##16 x, u##16 y) { return (t##16)(name(x.lo, y.lo), name(x.hi, y.hi)); }

#define FLOAT1(name, device)                       \
  float device(float);                             \
  OVERLOAD float name(float x) { return device(x); } \
  WIDEN1(name, float, float)
#define DOUBLE1(name, device)                        \
  double device(double);                             \
  OVERLOAD double name(double x) { return device(x); } \
  WIDEN1(name, double, double)
#define MATH1(name) FLOAT1(name, __nv_##name##f) DOUBLE1(name, __nv_##name)

MATH1(exp) MATH1(exp2) MATH1(exp10) MATH1(expm1)
MATH1(log) MATH1(log2) MATH1(log10) MATH1(log1p)
MATH1(sin) MATH1(cos) MATH1(tan) MATH1(sinpi) MATH1(cospi)
MATH1(asin) MATH1(acos) MATH1(atan) MATH1(sinh) MATH1(cosh) MATH1(tanh)
MATH1(asinh) MATH1(acosh) MATH1(atanh)
MATH1(sqrt) MATH1(rsqrt) MATH1(cbrt)
MATH1(erf) MATH1(erfc) MATH1(tgamma) MATH1(lgamma)

#define MATH2(name, device)                                                 \
  float device##f(float, float);                                            \
  double device(double, double);                                            \
  OVERLOAD float name(float x, float y) { return device##f(x, y); }         \
  OVERLOAD double name(double x, double y) { return device(x, y); }         \
  WIDEN2(name, float, float) WIDEN2(name, double, double)

MATH2(pow, __nv_pow) MATH2(powr, __nv_pow)
MATH2(atan2, __nv_atan2) MATH2(fmod, __nv_fmod) MATH2(hypot, __nv_hypot)
MATH2(remainder, __nv_remainder) MATH2(fdim, __nv_fdim)

float __nv_powif(float, int);
double __nv_powi(double, int);
OVERLOAD float pown(float x, int y) { return __nv_powif(x, y); }
OVERLOAD double pown(double x, int y) { return __nv_powi(x, y); }
WIDEN2(pown, float, int)
WIDEN2(pown, double, int)

/* Fast forms, single precision only. */
FLOAT1(native_exp, __nv_fast_expf) FLOAT1(native_exp2, __nv_exp2f)
FLOAT1(native_exp10, __nv_fast_exp10f)
FLOAT1(native_log, __nv_fast_logf) FLOAT1(native_log2, __nv_fast_log2f)
FLOAT1(native_log10, __nv_fast_log10f)
FLOAT1(native_sin, __nv_fast_sinf) FLOAT1(native_cos, __nv_fast_cosf)
FLOAT1(native_tan, __nv_fast_tanf)
FLOAT1(native_rsqrt, __nv_rsqrtf) FLOAT1(native_sqrt, __nv_fsqrt_rn)
FLOAT1(native_recip, __nv_frcp_rn)
FLOAT1(half_exp, __nv_fast_expf) FLOAT1(half_exp2, __nv_exp2f) FLOAT1(half_exp10, __nv_fast_exp10f)
FLOAT1(half_log, __nv_fast_logf) FLOAT1(half_log2, __nv_fast_log2f)
FLOAT1(half_log10, __nv_fast_log10f)
FLOAT1(half_sin, __nv_sinf) FLOAT1(half_cos, __nv_cosf) FLOAT1(half_tan, __nv_tanf)
FLOAT1(half_rsqrt, __nv_rsqrtf) FLOAT1(half_sqrt, __nv_fsqrt_rn) FLOAT1(half_recip, __nv_frcp_rn)

#define FAST2(name, device)                                       \
  float device(float, float);                                     \
  OVERLOAD float name(float x, float y) { return device(x, y); }  \
  WIDEN2(name, float, float)
FAST2(native_powr, __nv_fast_powf) FAST2(native_divide, __nv_fast_fdividef)
FAST2(half_powr, __nv_fast_powf) FAST2(half_divide, __nv_fast_fdividef)

#define SINCOS(type, device, space)                                          \
  void device(type, private type *, private type *);                         \
  OVERLOAD type sincos(type x, space type *cosine) {                         \
    type s, c;                                                               \
    device(x, &s, &c);                                                       \
    *cosine = c;                                                             \
    return s;                                                                \
  }
SINCOS(float, __nv_sincosf, private)
SINCOS(float, __nv_sincosf, global)
SINCOS(float, __nv_sincosf, local)
SINCOS(double, __nv_sincos, private)
