#ifndef CASS_BFLOAT16
#define CASS_BFLOAT16
#include <hip/hip_bf16.h>
// Conversions to and from bfloat16.
namespace cass {
__host__ __device__ inline __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) {
    __hip_bfloat162 pair;
    pair.x = x;
    pair.y = y;
    return pair;
}
__host__ __device__ inline __hip_bfloat162 floats2bfloat162(float x, float y) {
    return cass::make_bfloat162(__float2bfloat16(x), __float2bfloat16(y));
}
__host__ __device__ inline __hip_bfloat162 float2bfloat162(float x) { return cass::floats2bfloat162(x, x); }
__device__ inline int bfloat162int_rn(__hip_bfloat16 value) {
    return __float2int_rn(__bfloat162float(value));
}
__device__ inline int bfloat162int_rz(__hip_bfloat16 value) {
    return __float2int_rz(__bfloat162float(value));
}
// From double: it holds every int, so that there is one rounding.
template <typename T> __device__ inline __hip_bfloat16 int2bfloat16_rn(T value) {
    return __double2bfloat16(static_cast<double>(value));
}
}  // namespace cass
#endif
