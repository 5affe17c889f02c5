#ifndef CASS_BFLOAT16_BITS
#define CASS_BFLOAT16_BITS
#include <hip/hip_bf16.h>
// The bits of bfloat16 numbers. Of HIP's own functions those of HIP 6 convert the number in place of
// taking its bits: its class has conversions to and from integers.
namespace cass {
template <typename To, typename From>
__host__ __device__ inline To same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "bits for bits");
    To result;
    __builtin_memcpy(&result, &value, sizeof result);
    return result;
}
__host__ __device__ inline short bfloat16_as_short(__hip_bfloat16 value) { return same_bits<short>(value); }
__host__ __device__ inline unsigned short bfloat16_as_ushort(__hip_bfloat16 value) {
    return same_bits<unsigned short>(value);
}
__host__ __device__ inline __hip_bfloat16 short_as_bfloat16(short bits) { return same_bits<__hip_bfloat16>(bits); }
__host__ __device__ inline __hip_bfloat16 ushort_as_bfloat16(unsigned short bits) {
    return same_bits<__hip_bfloat16>(bits);
}
__host__ __device__ inline __hip_bfloat16 low2bfloat16(__hip_bfloat162 pair) { return pair.x; }
__host__ __device__ inline __hip_bfloat162 low2bfloat162(__hip_bfloat162 pair) {
    pair.y = pair.x;
    return pair;
}
}  // namespace cass
#define CASS_BFLOAT16_OF(bits) cass::ushort_as_bfloat16(static_cast<unsigned short>(bits))
#define CASS_INF_BF16 CASS_BFLOAT16_OF(0x7f80)
#define CASS_MAX_NORMAL_BF16 CASS_BFLOAT16_OF(0x7f7f)
#define CASS_MIN_DENORM_BF16 CASS_BFLOAT16_OF(0x0001)
#define CASS_NAN_BF16 CASS_BFLOAT16_OF(0x7fff)
#define CASS_NEG_ZERO_BF16 CASS_BFLOAT16_OF(0x8000)
#endif
