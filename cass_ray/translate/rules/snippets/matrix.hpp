#ifndef CASS_MATRIX
#define CASS_MATRIX
#if defined(__HIPCC__)
// Fragments of a CUDA warp: rocWMMA's, where it is installed and knows the device, and a wavefront is
// a warp. On CDNA a wavefront is two warps with a tile each, where rocWMMA's would be of one tile; and
// a device that is newer than rocWMMA is none to it (its functions do nothing). There a tile of
// 16x16x16 is spread over 32 lanes and multiplied without matrix units.
#include <hip/hip_fp16.h>
#if __has_include(<rocwmma/rocwmma.hpp>)
#include <rocwmma/rocwmma.hpp>
#define CASS_ROCWMMA 1
#else
#define CASS_ROCWMMA 0
#endif
#if !CASS_ROCWMMA || defined(__GFX9__) || (defined(__HIP_DEVICE_COMPILE__) && ROCWMMA_ARCH_HOST)
namespace cass {
namespace wmma {
#if CASS_ROCWMMA
// The host has rocWMMA's: templates of kernels that take these have the same names there.
using rocwmma::matrix_a;
using rocwmma::matrix_b;
using rocwmma::accumulator;
using rocwmma::row_major;
using rocwmma::col_major;
using rocwmma::layout_t;
using rocwmma::mem_row_major;
using rocwmma::mem_col_major;
#else
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
#endif
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    static_assert(M == 16 && N == 16 && K == 16, "only tiles of 16x16x16, as on RDNA");
    using element_type = T;
    static constexpr int num_elements = 8;
    T x[num_elements];
};
// Element e of a lane is in row 2 e + (lane / 16) and column lane % 16 of the tile.
__device__ inline unsigned int row(int element) { return 2 * element + (__lane_id() & 31u) / 16; }
__device__ inline unsigned int column() { return __lane_id() & 15u; }
template <class T>
struct summed { using type = float; };
template <>
struct summed<int> { using type = int; };
template <>
struct summed<double> { using type = double; };
template <class Sum, class T>
__device__ Sum widened(T value) { return static_cast<Sum>(value); }
template <class Sum>
__device__ Sum widened(__half value) { return __half2float(value); }
template <class Use, class T, class Layout, class V>
__device__ void fill_fragment(fragment<Use, 16, 16, 16, T, Layout>& to, const V& value) {
    for (T& each : to.x) each = value;
}
template <class Use, class T>
__device__ void load_matrix_sync(fragment<Use, 16, 16, 16, T, row_major>& to, const T* from, unsigned int stride) {
    for (int e = 0; e < 8; ++e) to.x[e] = from[row(e) * stride + column()];
}
template <class Use, class T>
__device__ void load_matrix_sync(fragment<Use, 16, 16, 16, T, col_major>& to, const T* from, unsigned int stride) {
    for (int e = 0; e < 8; ++e) to.x[e] = from[column() * stride + row(e)];
}
template <class T>
__device__ void load_matrix_sync(fragment<accumulator, 16, 16, 16, T>& to, const T* from, unsigned int stride,
                                 layout_t layout) {
    const bool rows = layout == mem_row_major;
    for (int e = 0; e < 8; ++e) to.x[e] = from[rows ? row(e) * stride + column() : column() * stride + row(e)];
}
template <class T>
__device__ void store_matrix_sync(T* to, const fragment<accumulator, 16, 16, 16, T>& from, unsigned int stride,
                                  layout_t layout) {
    const bool rows = layout == mem_row_major;
    for (int e = 0; e < 8; ++e) to[rows ? row(e) * stride + column() : column() * stride + row(e)] = from.x[e];
}
template <class D, class C, class A, class B, class Rows, class Columns>
__device__ void mma_sync(fragment<accumulator, 16, 16, 16, D>& to, const fragment<matrix_a, 16, 16, 16, A, Rows>& a,
                         const fragment<matrix_b, 16, 16, 16, B, Columns>& b,
                         const fragment<accumulator, 16, 16, 16, C>& c) {
    using Sum = typename summed<C>::type;
    const int half = __lane_id() & 16u, own = column();
    Sum sums[8];
#pragma unroll
    for (int e = 0; e < 8; ++e) sums[e] = widened<Sum>(c.x[e]);
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        const Sum factor = __shfl(widened<Sum>(b.x[k / 2]), k % 2 * 16 + own, 32);
#pragma unroll
        for (int e = 0; e < 8; ++e) sums[e] += __shfl(widened<Sum>(a.x[e]), half + k, 32) * factor;
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) to.x[e] = sums[e];
}
}  // namespace wmma
}  // namespace cass
#else
namespace cass {
namespace wmma = ::rocwmma;
}
#endif
#endif
#endif
