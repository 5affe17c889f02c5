#ifndef CASS_EXACT
#define CASS_EXACT
// Rounded operations that no compiler may fuse into one: CUDA's __fmul_rn and its like never are,
// HIP's are plain expressions.
namespace cass {
#ifdef __HIP_PLATFORM_NVIDIA__
#define CASS_EXACT_OPERATION(name, type, operation)                                                \
    __device__ inline type name(type a, type b) { return __##name(a, b); }
#else
#define CASS_EXACT_OPERATION(name, type, operation)                                                \
    __device__ inline type name(type a, type b) {                                                  \
        _Pragma("clang fp contract(off)") return a operation b;                                    \
    }
#endif
CASS_EXACT_OPERATION(fadd_rn, float, +)
CASS_EXACT_OPERATION(fsub_rn, float, -)
CASS_EXACT_OPERATION(fmul_rn, float, *)
CASS_EXACT_OPERATION(dadd_rn, double, +)
CASS_EXACT_OPERATION(dsub_rn, double, -)
CASS_EXACT_OPERATION(dmul_rn, double, *)
#undef CASS_EXACT_OPERATION
}  // namespace cass
#endif
