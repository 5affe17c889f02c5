// CUDA device functions and keywords that HIP does not have, by the definitions of the CUDA C++
// Programming Guide and the CUDA Math API. What HIP has is left to HIP.
#pragma once

#include <type_traits>

#include "cuda_simd.h"

// --- Keywords -----------------------------------------------------------------------------------

#ifndef __grid_constant__
#define __grid_constant__
#endif

// The third argument of CUDA's __launch_bounds__, the largest cluster, has no meaning here.
#define CASS_LAUNCH_BOUNDS(_1, _2, _3, chosen, ...) chosen
#undef __launch_bounds__
#define __launch_bounds__(...)                                                          \
  CASS_LAUNCH_BOUNDS(__VA_ARGS__, cass_launch_bounds3, launch_bounds_impl1,             \
                     launch_bounds_impl0, )(__VA_ARGS__)
#define cass_launch_bounds3(threads, blocks, cluster) launch_bounds_impl1(threads, blocks)

// --- Loads and stores with cache hints ----------------------------------------------------------

namespace cass_device {

template <typename T>
__device__ inline T load_streaming(const T* address) {
  if constexpr (std::is_arithmetic<T>::value) {
    return __builtin_nontemporal_load(address);
  } else {
    return *address;
  }
}

template <typename T>
__device__ inline void store_streaming(T* address, T value) {
  if constexpr (std::is_arithmetic<T>::value) {
    __builtin_nontemporal_store(value, address);
  } else {
    *address = value;
  }
}

// The type of a parameter that takes no part in deduction: __stcs(float_pointer, 1) converts.
template <typename T>
struct Same {
  using type = T;
};
template <typename T>
using As = typename Same<T>::type;

}  // namespace cass_device

template <typename T>
__device__ inline T __ldg(const T* address) { return *address; }
template <typename T>
__device__ inline T __ldca(const T* address) { return *address; }
template <typename T>
__device__ inline T __ldcg(const T* address) { return *address; }
template <typename T>
__device__ inline T __ldcs(const T* address) { return cass_device::load_streaming(address); }
template <typename T>
__device__ inline T __ldlu(const T* address) { return cass_device::load_streaming(address); }
template <typename T>
__device__ inline T __ldcv(const T* address) {
  if constexpr (std::is_arithmetic<T>::value) return *static_cast<const volatile T*>(address);
  return *address;
}

template <typename T>
__device__ inline void __stwb(T* address, cass_device::As<T> value) { *address = value; }
template <typename T>
__device__ inline void __stcg(T* address, cass_device::As<T> value) { *address = value; }
template <typename T>
__device__ inline void __stwt(T* address, cass_device::As<T> value) { *address = value; }
template <typename T>
__device__ inline void __stcs(T* address, cass_device::As<T> value) {
  cass_device::store_streaming(address, value);
}

// --- Control ------------------------------------------------------------------------------------

__device__ inline void __trap() { __builtin_trap(); }
__device__ inline void __brkpt() { __builtin_debugtrap(); }
// A hint: any sleep up to twice the time asked for is allowed.
__device__ inline void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }

// --- Address spaces -----------------------------------------------------------------------------

#if defined(__HIP_DEVICE_COMPILE__)
__device__ inline unsigned __isShared(const void* p) { return __builtin_amdgcn_is_shared(p); }
__device__ inline unsigned __isLocal(const void* p) { return __builtin_amdgcn_is_private(p); }
#else
__device__ unsigned __isShared(const void* p);
__device__ unsigned __isLocal(const void* p);
#endif
__device__ inline unsigned __isGlobal(const void* p) { return !__isShared(p) && !__isLocal(p); }

// --- Atomics of a block, and of 16 bits ---------------------------------------------------------

#define CASS_BLOCK_ATOMIC(NAME, OPERATION)                                                     \
  template <typename T>                                                                        \
  __device__ inline T NAME(T* address, cass_device::As<T> value) {                             \
    return OPERATION(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);          \
  }
CASS_BLOCK_ATOMIC(atomicAdd_block, __hip_atomic_fetch_add)
CASS_BLOCK_ATOMIC(atomicMin_block, __hip_atomic_fetch_min)
CASS_BLOCK_ATOMIC(atomicMax_block, __hip_atomic_fetch_max)
CASS_BLOCK_ATOMIC(atomicAnd_block, __hip_atomic_fetch_and)
CASS_BLOCK_ATOMIC(atomicOr_block, __hip_atomic_fetch_or)
CASS_BLOCK_ATOMIC(atomicXor_block, __hip_atomic_fetch_xor)
CASS_BLOCK_ATOMIC(atomicExch_block, __hip_atomic_exchange)
#undef CASS_BLOCK_ATOMIC

template <typename T>
__device__ inline T atomicSub_block(T* address, cass_device::As<T> value) {
  return atomicAdd_block(address, static_cast<T>(-value));
}
template <typename T>
__device__ inline T atomicCAS_block(T* address, cass_device::As<T> compare,
                                    cass_device::As<T> value) {
  __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  return compare;
}
__device__ inline unsigned short atomicCAS(unsigned short* address, unsigned short compare,
                                           unsigned short value) {
  __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  return compare;
}

// --- Integers -----------------------------------------------------------------------------------

#define CASS_MIN_MAX(PREFIX, TYPE)                                                             \
  __host__ __device__ inline TYPE PREFIX##min(TYPE a, TYPE b) { return a < b ? a : b; }        \
  __host__ __device__ inline TYPE PREFIX##max(TYPE a, TYPE b) { return a > b ? a : b; }
CASS_MIN_MAX(u, unsigned)
CASS_MIN_MAX(ll, long long)
CASS_MIN_MAX(ull, unsigned long long)
#undef CASS_MIN_MAX

// HIP declares both signs, which makes a call with any other integer type ambiguous.
#define CASS_FFSLL(TYPE) \
  __device__ inline int __ffsll(TYPE value) { return __builtin_ffsll(static_cast<long long>(value)); }
CASS_FFSLL(int)
CASS_FFSLL(unsigned)
CASS_FFSLL(long)
CASS_FFSLL(unsigned long)
#undef CASS_FFSLL

// --- Arithmetic with a rounding mode: d down, u up, z towards zero ------------------------------

#define CASS_ROUNDED(MODE, OCML, PREFIX, FMA, TYPE, BITS)                                      \
  extern "C" __device__ __attribute__((const)) TYPE __ocml_add_##OCML##_##BITS(TYPE, TYPE);    \
  extern "C" __device__ __attribute__((const)) TYPE __ocml_sub_##OCML##_##BITS(TYPE, TYPE);    \
  extern "C" __device__ __attribute__((const)) TYPE __ocml_mul_##OCML##_##BITS(TYPE, TYPE);    \
  extern "C" __device__ __attribute__((const)) TYPE __ocml_fma_##OCML##_##BITS(TYPE, TYPE,     \
                                                                               TYPE);          \
  __device__ inline TYPE __##PREFIX##add_##MODE(TYPE a, TYPE b) {                              \
    return __ocml_add_##OCML##_##BITS(a, b);                                                   \
  }                                                                                            \
  __device__ inline TYPE __##PREFIX##sub_##MODE(TYPE a, TYPE b) {                              \
    return __ocml_sub_##OCML##_##BITS(a, b);                                                   \
  }                                                                                            \
  __device__ inline TYPE __##PREFIX##mul_##MODE(TYPE a, TYPE b) {                              \
    return __ocml_mul_##OCML##_##BITS(a, b);                                                   \
  }                                                                                            \
  __device__ inline TYPE FMA##_##MODE(TYPE a, TYPE b, TYPE c) {                                \
    return __ocml_fma_##OCML##_##BITS(a, b, c);                                                \
  }
#if !defined(OCML_BASIC_ROUNDED_OPERATIONS)
CASS_ROUNDED(rd, rtn, f, __fmaf, float, f32)
CASS_ROUNDED(ru, rtp, f, __fmaf, float, f32)
CASS_ROUNDED(rz, rtz, f, __fmaf, float, f32)
CASS_ROUNDED(rd, rtn, d, __fma, double, f64)
CASS_ROUNDED(ru, rtp, d, __fma, double, f64)
CASS_ROUNDED(rz, rtz, d, __fma, double, f64)
#endif
#undef CASS_ROUNDED
