#ifndef CASS_ROUNDING
#define CASS_ROUNDING
#ifdef __HIP_PLATFORM_NVIDIA__
namespace cass {
__device__ inline float fadd_rd(float a, float b) { return __fadd_rd(a, b); }
__device__ inline float fsub_rd(float a, float b) { return __fsub_rd(a, b); }
__device__ inline float fmul_rd(float a, float b) { return __fmul_rd(a, b); }
__device__ inline float fmaf_rd(float a, float b, float c) { return __fmaf_rd(a, b, c); }
__device__ inline float fadd_ru(float a, float b) { return __fadd_ru(a, b); }
__device__ inline float fsub_ru(float a, float b) { return __fsub_ru(a, b); }
__device__ inline float fmul_ru(float a, float b) { return __fmul_ru(a, b); }
__device__ inline float fmaf_ru(float a, float b, float c) { return __fmaf_ru(a, b, c); }
__device__ inline float fadd_rz(float a, float b) { return __fadd_rz(a, b); }
__device__ inline float fsub_rz(float a, float b) { return __fsub_rz(a, b); }
__device__ inline float fmul_rz(float a, float b) { return __fmul_rz(a, b); }
__device__ inline float fmaf_rz(float a, float b, float c) { return __fmaf_rz(a, b, c); }
__device__ inline double dadd_rd(double a, double b) { return __dadd_rd(a, b); }
__device__ inline double dsub_rd(double a, double b) { return __dsub_rd(a, b); }
__device__ inline double dmul_rd(double a, double b) { return __dmul_rd(a, b); }
__device__ inline double fma_rd(double a, double b, double c) { return __fma_rd(a, b, c); }
__device__ inline double dadd_ru(double a, double b) { return __dadd_ru(a, b); }
__device__ inline double dsub_ru(double a, double b) { return __dsub_ru(a, b); }
__device__ inline double dmul_ru(double a, double b) { return __dmul_ru(a, b); }
__device__ inline double fma_ru(double a, double b, double c) { return __fma_ru(a, b, c); }
__device__ inline double dadd_rz(double a, double b) { return __dadd_rz(a, b); }
__device__ inline double dsub_rz(double a, double b) { return __dsub_rz(a, b); }
__device__ inline double dmul_rz(double a, double b) { return __dmul_rz(a, b); }
__device__ inline double fma_rz(double a, double b, double c) { return __fma_rz(a, b, c); }
}  // namespace cass
#else
// Sums and products with a direction of rounding, from ROCm's device library.
extern "C" {
__device__ __attribute__((const)) float __ocml_add_rtn_f32(float, float);
__device__ __attribute__((const)) float __ocml_sub_rtn_f32(float, float);
__device__ __attribute__((const)) float __ocml_mul_rtn_f32(float, float);
__device__ __attribute__((const)) float __ocml_fma_rtn_f32(float, float, float);
__device__ __attribute__((const)) float __ocml_add_rtp_f32(float, float);
__device__ __attribute__((const)) float __ocml_sub_rtp_f32(float, float);
__device__ __attribute__((const)) float __ocml_mul_rtp_f32(float, float);
__device__ __attribute__((const)) float __ocml_fma_rtp_f32(float, float, float);
__device__ __attribute__((const)) float __ocml_add_rtz_f32(float, float);
__device__ __attribute__((const)) float __ocml_sub_rtz_f32(float, float);
__device__ __attribute__((const)) float __ocml_mul_rtz_f32(float, float);
__device__ __attribute__((const)) float __ocml_fma_rtz_f32(float, float, float);
__device__ __attribute__((const)) double __ocml_add_rtn_f64(double, double);
__device__ __attribute__((const)) double __ocml_sub_rtn_f64(double, double);
__device__ __attribute__((const)) double __ocml_mul_rtn_f64(double, double);
__device__ __attribute__((const)) double __ocml_fma_rtn_f64(double, double, double);
__device__ __attribute__((const)) double __ocml_add_rtp_f64(double, double);
__device__ __attribute__((const)) double __ocml_sub_rtp_f64(double, double);
__device__ __attribute__((const)) double __ocml_mul_rtp_f64(double, double);
__device__ __attribute__((const)) double __ocml_fma_rtp_f64(double, double, double);
__device__ __attribute__((const)) double __ocml_add_rtz_f64(double, double);
__device__ __attribute__((const)) double __ocml_sub_rtz_f64(double, double);
__device__ __attribute__((const)) double __ocml_mul_rtz_f64(double, double);
__device__ __attribute__((const)) double __ocml_fma_rtz_f64(double, double, double);
}
namespace cass {
__device__ inline float fadd_rd(float a, float b) { return __ocml_add_rtn_f32(a, b); }
__device__ inline float fsub_rd(float a, float b) { return __ocml_sub_rtn_f32(a, b); }
__device__ inline float fmul_rd(float a, float b) { return __ocml_mul_rtn_f32(a, b); }
__device__ inline float fmaf_rd(float a, float b, float c) { return __ocml_fma_rtn_f32(a, b, c); }
__device__ inline float fadd_ru(float a, float b) { return __ocml_add_rtp_f32(a, b); }
__device__ inline float fsub_ru(float a, float b) { return __ocml_sub_rtp_f32(a, b); }
__device__ inline float fmul_ru(float a, float b) { return __ocml_mul_rtp_f32(a, b); }
__device__ inline float fmaf_ru(float a, float b, float c) { return __ocml_fma_rtp_f32(a, b, c); }
__device__ inline float fadd_rz(float a, float b) { return __ocml_add_rtz_f32(a, b); }
__device__ inline float fsub_rz(float a, float b) { return __ocml_sub_rtz_f32(a, b); }
__device__ inline float fmul_rz(float a, float b) { return __ocml_mul_rtz_f32(a, b); }
__device__ inline float fmaf_rz(float a, float b, float c) { return __ocml_fma_rtz_f32(a, b, c); }
__device__ inline double dadd_rd(double a, double b) { return __ocml_add_rtn_f64(a, b); }
__device__ inline double dsub_rd(double a, double b) { return __ocml_sub_rtn_f64(a, b); }
__device__ inline double dmul_rd(double a, double b) { return __ocml_mul_rtn_f64(a, b); }
__device__ inline double fma_rd(double a, double b, double c) { return __ocml_fma_rtn_f64(a, b, c); }
__device__ inline double dadd_ru(double a, double b) { return __ocml_add_rtp_f64(a, b); }
__device__ inline double dsub_ru(double a, double b) { return __ocml_sub_rtp_f64(a, b); }
__device__ inline double dmul_ru(double a, double b) { return __ocml_mul_rtp_f64(a, b); }
__device__ inline double fma_ru(double a, double b, double c) { return __ocml_fma_rtp_f64(a, b, c); }
__device__ inline double dadd_rz(double a, double b) { return __ocml_add_rtz_f64(a, b); }
__device__ inline double dsub_rz(double a, double b) { return __ocml_sub_rtz_f64(a, b); }
__device__ inline double dmul_rz(double a, double b) { return __ocml_mul_rtz_f64(a, b); }
__device__ inline double fma_rz(double a, double b, double c) { return __ocml_fma_rtz_f64(a, b, c); }
}  // namespace cass
#endif
#endif
