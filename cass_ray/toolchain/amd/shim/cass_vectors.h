#if !defined(CASS_VECTORS) && defined(__cplusplus)
#define CASS_VECTORS
// CUDA's vector types (float3, int2, ...) are plain structs: aggregates, trivial, without operators.
// HIP's are classes with constructors and element-wise operators. These take their place, before
// HIP's headers, with CUDA's layout; where HIP's came first, they stay.
#if !defined(__HIP_PLATFORM_NVIDIA__) && !defined(HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H)
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H
#define CASS_PLAIN_VECTORS
#include <hip/amd_detail/host_defines.h>

#include <array>
#include <iosfwd>
#include <type_traits>
#define __HOST_DEVICE__ __host__ __device__
#if __has_attribute(ext_vector_type)
#define __HIP_USE_NATIVE_VECTOR__ 1
#define __NATIVE_VECTOR__(n, T) T __attribute__((ext_vector_type(n)))
#else
#define __NATIVE_VECTOR__(n, T) T[n]
#endif
template <typename T, unsigned int n> struct HIP_vector_type;
// What HIP's own functions work on: `data` beside the members.
template <typename T, unsigned int n> struct HIP_vector_base;
#define CASS_VECTOR(n, alignment, ...)                                                            \
    template <typename T> struct alignas(alignment) HIP_vector_type<T, n> {                       \
        using Native_vec_ = __NATIVE_VECTOR__(n, T);                                              \
        using value_type = T;                                                                     \
        T __VA_ARGS__;                                                                            \
    };                                                                                            \
    template <typename T> struct HIP_vector_base<T, n> {                                          \
        using Native_vec_ = __NATIVE_VECTOR__(n, T);                                              \
        using value_type = T;                                                                     \
        union {                                                                                   \
            HIP_vector_type<T, n> plain;                                                          \
            Native_vec_ data;                                                                     \
            struct {                                                                              \
                T __VA_ARGS__;                                                                    \
            };                                                                                    \
        };                                                                                        \
        HIP_vector_base() = default;                                                              \
        __host__ __device__ HIP_vector_base(const HIP_vector_type<T, n>& from) : plain(from) {}   \
        template <typename... U, typename std::enable_if<sizeof...(U) == n>::type* = nullptr>     \
        __host__ __device__ HIP_vector_base(U... each) : plain{static_cast<T>(each)...} {}        \
        __host__ __device__ operator HIP_vector_type<T, n>() const { return plain; }              \
    };
CASS_VECTOR(1, alignof(T), x)
CASS_VECTOR(2, 2 * sizeof(T), x, y)
CASS_VECTOR(3, alignof(T), x, y, z)
CASS_VECTOR(4, (sizeof(T) < 4 ? 4 * sizeof(T) : 16), x, y, z, w)
#undef CASS_VECTOR
struct dim3;
template <> struct HIP_vector_type<unsigned int, 3> {
    using Native_vec_ = __NATIVE_VECTOR__(3, unsigned int);
    using value_type = unsigned int;
    unsigned int x, y, z;
    __host__ __device__ operator dim3() const;
};
// As HIP 7 has it.
template <typename T, unsigned int n>
__host__ __device__ inline typename HIP_vector_type<T, n>::Native_vec_& get_native_vector(HIP_vector_type<T, n>& v) {
    return *reinterpret_cast<typename HIP_vector_type<T, n>::Native_vec_*>(&v);
}
template <typename T, unsigned int n> __host__ __device__ inline const typename HIP_vector_type<T, n>::Native_vec_&
get_native_vector(const HIP_vector_type<T, n>& v) {
    return *reinterpret_cast<const typename HIP_vector_type<T, n>::Native_vec_*>(&v);
}
template <typename T, unsigned int n, typename U, unsigned int m>
__host__ __device__ inline HIP_vector_type<T, n> __hipMapVector(const HIP_vector_type<U, m>& from) {
    HIP_vector_type<T, n> to = {};
    for (unsigned int i = 0; i < n && i < m; ++i) (&to.x)[i] = static_cast<T>((&from.x)[i]);
    return to;
}
#define CASS_VECTORS_OF(name, T)                                                                           \
    using name##1 = HIP_vector_type<T, 1>;                                                                 \
    using name##2 = HIP_vector_type<T, 2>;                                                                 \
    using name##3 = HIP_vector_type<T, 3>;                                                                 \
    using name##4 = HIP_vector_type<T, 4>;                                                                 \
    static inline __host__ __device__ constexpr name##1 make_##name##1(T x) { return {x}; }                \
    static inline __host__ __device__ constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }        \
    static inline __host__ __device__ constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    static inline __host__ __device__ constexpr name##4 make_##name##4(T x, T y, T z, T w) {               \
        return {x, y, z, w};                                                                               \
    }
CASS_VECTORS_OF(char, char)
CASS_VECTORS_OF(uchar, unsigned char)
CASS_VECTORS_OF(short, short)
CASS_VECTORS_OF(ushort, unsigned short)
CASS_VECTORS_OF(int, int)
CASS_VECTORS_OF(uint, unsigned int)
CASS_VECTORS_OF(long, long)
CASS_VECTORS_OF(ulong, unsigned long)
CASS_VECTORS_OF(longlong, long long)
CASS_VECTORS_OF(ulonglong, unsigned long long)
CASS_VECTORS_OF(float, float)
CASS_VECTORS_OF(double, double)
#undef CASS_VECTORS_OF
#ifdef __HIP__
// HIP's headers call constructors of some: `int2(x, y).data`, `float4(a, b, c, d)`.
#define CASS_JOINED(a, b) a##b
#define CASS_CHOICE(a, b) CASS_JOINED(a, b)
#define CASS_MADE_(type, T, n) type()
#define CASS_MADE_1(type, T, n, ...) HIP_vector_base<T, n>{__VA_ARGS__}
#define CASS_MADE(type, T, n, ...) CASS_CHOICE(CASS_MADE_, __VA_OPT__(1))(type, T, n __VA_OPT__(, ) __VA_ARGS__)
#define int2(...) CASS_MADE(int2, int, 2, __VA_ARGS__)
#define int4(...) CASS_MADE(int4, int, 4, __VA_ARGS__)
#define float2(...) CASS_MADE(float2, float, 2, __VA_ARGS__)
#define float4(...) CASS_MADE(float4, float, 4, __VA_ARGS__)
// Its own products of vectors, which CUDA programs do not have, read their `data`.
#include <hip/amd_detail/math_fwd.h>
#define amd_mixed_dot cass_no_amd_mixed_dot
#define __ockl_sdot2(...) 0
#define __ockl_udot2(...) 0
#define __ockl_sdot4(...) 0
#define __ockl_udot4(...) 0
#include <hip/hip_runtime.h>
#undef __ockl_sdot2
#undef __ockl_udot2
#undef __ockl_sdot4
#undef __ockl_udot4
#undef amd_mixed_dot
#define ret(...) ret{__VA_ARGS__}  // `float2 ret(x, y);`
#if __has_include(<hip/hip_bf16.h>)
#include <hip/hip_bf16.h>
#endif
#if __has_include(<hip/hip_fp8.h>)
#include <hip/hip_fp8.h>
#endif
#undef ret
__host__ __device__ inline HIP_vector_type<unsigned int, 3>::operator dim3() const { return dim3(x, y, z); }
#undef int2
#undef int4
#undef float2
#undef float4
#endif
#endif
#endif
