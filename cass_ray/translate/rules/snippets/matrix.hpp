#ifndef CASS_MATRIX
#define CASS_MATRIX
#if defined(__HIPCC__)
// Fragments of a CUDA warp: rocWMMA's, where it is installed and knows the device, and a wavefront is
// a warp. On CDNA a wavefront is two warps with a tile each, where rocWMMA's would be of one tile; and
// a device that is newer than rocWMMA is none to it (its functions do nothing). There a tile is spread
// over 32 lanes and multiplied without matrix units.
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
namespace precision {
struct tf32;
}
// What a fragment of T holds, and its value in a sum.
template <class T>
struct element {
    using type = T;
    template <class Sum>
    static __device__ Sum widened(T value) { return static_cast<Sum>(value); }
    template <class Sum>
    static __device__ T narrowed(Sum value) { return static_cast<T>(value); }
};
template <>
struct element<__half> {
    using type = __half;
    template <class Sum>
    static __device__ Sum widened(__half value) { return __half2float(value); }
    static __device__ __half narrowed(float value) { return __float2half(value); }
};
template <>
struct element<precision::tf32> {  // the lower 13 bits are ignored
    using type = float;
    template <class Sum>
    static __device__ Sum widened(float value) { return __uint_as_float(__float_as_uint(value) & 0xffffe000u); }
};
// To the nearest with 10 bits behind the point, halves away from zero.
__host__ __device__ inline float __float_to_tf32(float value) {
    unsigned int bits;
    __builtin_memcpy(&bits, &value, 4);
    if ((bits & 0x7f800000u) == 0x7f800000u) return value + value;
    bits = (bits + 0x1000u) & 0xffffe000u;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}
template <class T>
struct summed { using type = float; };
template <>
struct summed<int> { using type = int; };
template <>
struct summed<double> { using type = double; };
template <class Use, int M, int N, int K>
struct shape { static constexpr int rows = M, columns = N; };
template <int M, int N, int K>
struct shape<matrix_a, M, N, K> { static constexpr int rows = M, columns = K; };
template <int M, int N, int K>
struct shape<matrix_b, M, N, K> { static constexpr int rows = K, columns = N; };
// Element e of a lane is number 32 e + lane of its matrix, counted by rows.
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment : shape<Use, M, N, K> {
    static_assert((M * N == 256 && K == 16) || (M == 16 && N == 16 && K == 8) || (M == 8 && N == 8 && K == 4),
                  "no shape of nvcuda::wmma");
    using element_type = typename element<T>::type;
    using storage_element_type = element_type;
    static constexpr int num_elements = fragment::rows * fragment::columns / 32;
    element_type x[num_elements];
    static __device__ unsigned int place(int number, unsigned int stride, bool by_rows) {
        const unsigned int at = 32 * number + (__lane_id() & 31u);
        const unsigned int row = at / fragment::columns, column = at % fragment::columns;
        return by_rows ? row * stride + column : column * stride + row;
    }
};
template <class Use, int M, int N, int K, class T, class Layout, class V>
__device__ void fill_fragment(fragment<Use, M, N, K, T, Layout>& to, const V& value) {
    for (auto& each : to.x) each = value;
}
template <class Use, int M, int N, int K, class T>
__device__ void load_matrix_sync(fragment<Use, M, N, K, T, row_major>& to, const typename element<T>::type* from,
                                 unsigned int stride) {
    for (int e = 0; e < to.num_elements; ++e) to.x[e] = from[to.place(e, stride, true)];
}
template <class Use, int M, int N, int K, class T>
__device__ void load_matrix_sync(fragment<Use, M, N, K, T, col_major>& to, const typename element<T>::type* from,
                                 unsigned int stride) {
    for (int e = 0; e < to.num_elements; ++e) to.x[e] = from[to.place(e, stride, false)];
}
template <int M, int N, int K, class T>
__device__ void load_matrix_sync(fragment<accumulator, M, N, K, T>& to, const T* from, unsigned int stride,
                                 layout_t layout) {
    for (int e = 0; e < to.num_elements; ++e) to.x[e] = from[to.place(e, stride, layout == mem_row_major)];
}
template <int M, int N, int K, class T>
__device__ void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& from, unsigned int stride,
                                  layout_t layout) {
    for (int e = 0; e < from.num_elements; ++e) to[from.place(e, stride, layout == mem_row_major)] = from.x[e];
}
template <int M, int N, int K, class D, class C, class A, class B, class Rows, class Columns>
__device__ void mma_sync(fragment<accumulator, M, N, K, D>& to, const fragment<matrix_a, M, N, K, A, Rows>& a,
                         const fragment<matrix_b, M, N, K, B, Columns>& b,
                         const fragment<accumulator, M, N, K, C>& c) {
    using Sum = typename summed<C>::type;
    constexpr int count = M * N / 32;
    const int column = __lane_id() % N, row = (__lane_id() & 31u) / N;
    Sum sums[count];
#pragma unroll
    for (int e = 0; e < count; ++e) sums[e] = element<C>::template widened<Sum>(c.x[e]);
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const Sum factor = __shfl(element<B>::template widened<Sum>(b.x[k * N / 32]), k * N % 32 + column, 32);
#pragma unroll
        for (int e = 0; e < count; ++e) {
            // Which of a lane's elements it is differs between lanes where K is larger than N.
            const int at = (32 / N * e + row) * K + k, first = e * K / N;
            Sum left = __shfl(element<A>::template widened<Sum>(a.x[first]), at % 32, 32);
#pragma unroll
            for (int other = first + 1; other < first + K / N; ++other) {
                const Sum next = __shfl(element<A>::template widened<Sum>(a.x[other]), at % 32, 32);
                left = at / 32 == other ? next : left;
            }
            sums[e] += left * factor;
        }
    }
#pragma unroll
    for (int e = 0; e < count; ++e) to.x[e] = element<D>::narrowed(sums[e]);
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
