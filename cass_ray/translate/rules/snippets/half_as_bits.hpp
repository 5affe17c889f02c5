#ifndef CASS_HALF_AS_BITS
#define CASS_HALF_AS_BITS
#include <hip/hip_fp16.h>
// The bits of half numbers on both sides: HIP's functions are the device's alone.
namespace cass {
__host__ __device__ inline unsigned short half_as_ushort(__half value) {
    unsigned short bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
__host__ __device__ inline short half_as_short(__half value) { return static_cast<short>(half_as_ushort(value)); }
__host__ __device__ inline __half ushort_as_half(unsigned short bits) {
    __half value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
__host__ __device__ inline __half short_as_half(short bits) { return ushort_as_half(static_cast<unsigned short>(bits)); }
__host__ __device__ inline float internal_half2float(unsigned short bits) { return __half2float(ushort_as_half(bits)); }
}  // namespace cass
#define CASS_HALF_OF(bits) cass::ushort_as_half(static_cast<unsigned short>(bits))
#define CASS_INF_FP16 CASS_HALF_OF(0x7c00)
#define CASS_MAX_NORMAL_FP16 CASS_HALF_OF(0x7bff)
#define CASS_MIN_DENORM_FP16 CASS_HALF_OF(0x0001)
#define CASS_NAN_FP16 CASS_HALF_OF(0x7fff)
#define CASS_NEG_ZERO_FP16 CASS_HALF_OF(0x8000)
#define CASS_ONE_FP16 CASS_HALF_OF(0x3c00)
#define CASS_ZERO_FP16 CASS_HALF_OF(0x0000)
#endif
