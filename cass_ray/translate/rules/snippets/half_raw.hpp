#ifndef CASS_HALF_RAW
#define CASS_HALF_RAW
#include <hip/hip_fp16.h>
// The bits of half numbers: HIP's `__half_raw` begins with the number, and pairs have numbers as members.
namespace cass {
struct half_raw {
    unsigned short x;
    half_raw() = default;
    __host__ __device__ constexpr half_raw(unsigned short bits) : x(bits) {}
    __host__ __device__ half_raw(const __half& h) { __builtin_memcpy(&x, &h, sizeof x); }
    __host__ __device__ operator __half() const {
        __half h;
        __builtin_memcpy(&h, &x, sizeof x);
        return h;
    }
};
struct half2_raw {
    unsigned short x, y;
    half2_raw() = default;
    __host__ __device__ constexpr half2_raw(unsigned short low, unsigned short high = 0) : x(low), y(high) {}
    __host__ __device__ half2_raw(const __half2& h) { __builtin_memcpy(this, &h, sizeof *this); }
    __host__ __device__ operator __half2() const {
        __half2 h;
        __builtin_memcpy(&h, this, sizeof h);
        return h;
    }
};
}  // namespace cass
#endif
