#ifndef CASS_HALF_FUNCTIONS
#define CASS_HALF_FUNCTIONS
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
// Functions of half and bfloat16 numbers and pairs that HIP has for some of them only.
namespace cass {
template <typename Pair>
__device__ inline Pair hmax2(Pair a, Pair b) {
    a.x = __hmax(a.x, b.x);
    a.y = __hmax(a.y, b.y);
    return a;
}
template <typename Pair>
__device__ inline Pair hmin2(Pair a, Pair b) {
    a.x = __hmin(a.x, b.x);
    a.y = __hmin(a.y, b.y);
    return a;
}
template <typename T>
__device__ inline T htanh(T a) {
    return T(tanhf(static_cast<float>(a)));
}
__device__ inline __half htanh(__half a) { return __float2half(tanhf(__half2float(a))); }
template <typename Pair>
__device__ inline Pair h2tanh(Pair a) {
    a.x = cass::htanh(a.x);
    a.y = cass::htanh(a.y);
    return a;
}
}  // namespace cass
#endif
