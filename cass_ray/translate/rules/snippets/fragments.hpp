#ifndef CASS_FRAGMENTS
#define CASS_FRAGMENTS
#if defined(__HIPCC__)
#include <hip/hip_fp16.h>
// PTX's ldmatrix and mma.m16n8 without matrix units. A warp's 32 lanes hold the matrices as PTX ISA
// 8.5 (9.7.14) lays them out: lane 4 g + t has, of A, rows g and g + 8, of B and C column g or
// columns 2 t and 2 t + 1. Sums are single precision, in the order of k, which PTX leaves open.
namespace cass {
// What 32 bits of A or B hold.
struct PackedHalf {
    enum { count = 2 };
    static __device__ float value(unsigned int bits, int at) {
        return __half2float(__ushort_as_half(static_cast<unsigned short>(bits >> 16 * at)));
    }
};
struct PackedBfloat16 {
    enum { count = 2 };
    static __device__ float value(unsigned int bits, int at) { return __uint_as_float(bits >> 16 * at << 16); }
};
struct PackedTf32 {  // the lower 13 bits are ignored
    enum { count = 1 };
    static __device__ float value(unsigned int bits, int) { return __uint_as_float(bits & 0xffffe000u); }
};
struct PackedSigned {
    enum { count = 4 };
    static __device__ int value(unsigned int bits, int at) { return static_cast<signed char>(bits >> 8 * at); }
};
struct PackedUnsigned {
    enum { count = 4 };
    static __device__ int value(unsigned int bits, int at) { return static_cast<unsigned char>(bits >> 8 * at); }
};
__device__ inline unsigned int packed_halves(float low, float high) {
    return __half_as_ushort(__float2half_rn(low)) |
           static_cast<unsigned int>(__half_as_ushort(__float2half_rn(high))) << 16;
}
// Adds A B to this lane's four sums; Steps is how many registers of B there are.
template <class A, class B, int Steps, class Sum>
__device__ void multiply(Sum (&sums)[4], const unsigned int (&a)[2 * Steps], const unsigned int (&b)[Steps]) {
    const int row = lane() / 4 * 4, column = lane() % 4 * 8;  // the first lane that has them
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            const unsigned int upper = __shfl(a[2 * step], row + part, 32);
            const unsigned int lower = __shfl(a[2 * step + 1], row + part, 32);
            const unsigned int left = __shfl(b[step], column + part, 32);
            const unsigned int right = __shfl(b[step], column + 4 + part, 32);
#pragma unroll
            for (int at = 0; at < A::count; ++at) {
                sums[0] += A::value(upper, at) * B::value(left, at);
                sums[1] += A::value(upper, at) * B::value(right, at);
                sums[2] += A::value(lower, at) * B::value(left, at);
                sums[3] += A::value(lower, at) * B::value(right, at);
            }
        }
    }
}
// This lane's two elements of one of ldmatrix's matrices, whose rows lanes 8 n to 8 n + 7 point to.
template <bool Transposed>
__device__ unsigned int matrix_elements(unsigned int address, int number) {
    const int group = lane() / 4, pair = lane() % 4;
    if (!Transposed) {
        const unsigned int row = __shfl(address, 8 * number + group, 32);
        return static_cast<const unsigned int*>(from_shared_address(row))[pair];
    }
    const unsigned int low = __shfl(address, 8 * number + 2 * pair, 32);
    const unsigned int high = __shfl(address, 8 * number + 2 * pair + 1, 32);
    return static_cast<const unsigned short*>(from_shared_address(low))[group] |
           static_cast<unsigned int>(static_cast<const unsigned short*>(from_shared_address(high))[group]) << 16;
}
}  // namespace cass
#endif
#endif
