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
}  // namespace cass
#endif
