// CUDA's warp operations with a participation mask. In a wavefront of 64 lanes each half is a warp of
// 32: a CUDA program's masks, lane numbers and widths keep their meaning.
//
// HIP 6.2 offers these behind HIP_ENABLE_WARP_SYNC_BUILTINS, HIP 6.3 and later by default, and both
// reject masks that are not 64 bits wide; CUDA programs pass 32 bits. Semantics follow "Warp Vote
// Functions", "Warp Match Functions", "Warp Reduce Functions" and "Warp Shuffle Functions" of the
// CUDA C++ Programming Guide. The lanes of a mask run the same instruction together here, because
// a well-formed program calls these with all lanes of the mask converged: no wait is needed, only
// the restriction of the result to the mask. Exited lanes of a mask do not take part.
#pragma once

#include <type_traits>

#if !defined(HIP_ENABLE_WARP_SYNC_BUILTINS)

namespace cass_warp {

constexpr int kLanes = 32;

#if defined(__HIP_DEVICE_COMPILE__) && __AMDGCN_WAVEFRONT_SIZE == 64
// In the wavefront: 32 to 63 are those of the upper warp.
__device__ inline unsigned lane_of_thread() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
__device__ inline unsigned first_lane_of_warp() { return lane_of_thread() & ~(kLanes - 1u); }
// A mask of more bits is meant for the whole wavefront.
template <typename Mask>
constexpr bool kIsWarpMask = sizeof(Mask) <= sizeof(unsigned);
#else
__device__ inline unsigned lane_of_thread() { return __builtin_amdgcn_mbcnt_lo(~0u, 0u); }
__device__ inline unsigned first_lane_of_warp() { return 0; }
template <typename Mask>
constexpr bool kIsWarpMask = true;
#endif

__device__ inline unsigned ballot(bool predicate) {
  return static_cast<unsigned>(__ballot(predicate) >> first_lane_of_warp());
}

template <typename Mask>
__device__ inline unsigned members(Mask mask) {
  static_assert(kIsWarpMask<Mask>,
                "a mask of 64 lanes: CUDA's warp operations work on the 32 lanes of each half");
  return static_cast<unsigned>(mask);
}

// Applies `move` to each 32-bit word of `value`; CUDA shuffles 4- and 8-byte types, HIP's half and
// bfloat16 types are shorter or are classes.
template <typename T, typename Move>
__device__ inline T by_words(T value, Move move) {
  static_assert(std::is_trivially_copyable<T>::value, "only plain data can be shuffled");
  constexpr int kWords = (sizeof(T) + 3) / 4;
  int words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = move(words[i]);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

template <typename T>
__device__ inline T from_lane(T value, int lane) {
  return by_words(value, [=](int word) { return __builtin_amdgcn_ds_bpermute(lane << 2, word); });
}

// The value that `lane` of the thread's warp holds; it is active.
template <typename T>
__device__ inline T read_lane(T value, int lane) {
#if defined(__HIP_DEVICE_COMPILE__) && __AMDGCN_WAVEFRONT_SIZE == 64
  return from_lane(value, static_cast<int>(first_lane_of_warp()) + lane);
#else
  return by_words(value, [=](int word) { return __builtin_amdgcn_readlane(word, lane); });
#endif
}

template <typename T, typename Operation>
__device__ inline T reduce(unsigned mask, T value, T identity, Operation operation) {
  const unsigned active = ballot(true);
  T result = identity;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(active >> lane & 1)) continue;
    const T other = read_lane(value, lane);
    if (mask >> lane & 1) result = operation(result, other);
  }
  return result;
}

}  // namespace cass_warp

__device__ inline unsigned __activemask() { return cass_warp::ballot(true); }

__device__ inline void __syncwarp(unsigned = 0xffffffffu) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

template <typename Mask>
__device__ inline unsigned __ballot_sync(Mask mask, int predicate) {
  return cass_warp::ballot(predicate) & cass_warp::members(mask);
}

template <typename Mask>
__device__ inline int __any_sync(Mask mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}

template <typename Mask>
__device__ inline int __all_sync(Mask mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

template <typename Mask, typename T>
__device__ inline T __shfl_sync(Mask mask, T value, int source, int width = cass_warp::kLanes) {
  static_cast<void>(cass_warp::members(mask));
  const int lane = cass_warp::lane_of_thread();
  return cass_warp::from_lane(value, (source & (width - 1)) | (lane & ~(width - 1)));
}

template <typename Mask, typename T>
__device__ inline T __shfl_up_sync(Mask mask, T value, unsigned delta, int width = cass_warp::kLanes) {
  static_cast<void>(cass_warp::members(mask));
  const int lane = cass_warp::lane_of_thread();
  const int source = lane - static_cast<int>(delta);
  return cass_warp::from_lane(value, source < (lane & ~(width - 1)) ? lane : source);
}

template <typename Mask, typename T>
__device__ inline T __shfl_down_sync(Mask mask, T value, unsigned delta, int width = cass_warp::kLanes) {
  static_cast<void>(cass_warp::members(mask));
  const int lane = cass_warp::lane_of_thread();
  const int source = lane + static_cast<int>(delta);
  return cass_warp::from_lane(value, source > (lane | (width - 1)) ? lane : source);
}

template <typename Mask, typename T>
__device__ inline T __shfl_xor_sync(Mask mask, T value, int lane_mask, int width = cass_warp::kLanes) {
  static_cast<void>(cass_warp::members(mask));
  const int lane = cass_warp::lane_of_thread();
  const int source = lane ^ lane_mask;
  return cass_warp::from_lane(value, source > (lane | (width - 1)) ? lane : source);
}

template <typename Mask, typename T>
__device__ inline unsigned __match_any_sync(Mask mask, T value) {
  const unsigned active = cass_warp::ballot(true);
  unsigned equal = 0;
  for (int lane = 0; lane < cass_warp::kLanes; ++lane) {
    if (!(active >> lane & 1)) continue;
    if (cass_warp::read_lane(value, lane) == value) equal |= 1u << lane;
  }
  return equal & cass_warp::members(mask);
}

template <typename Mask, typename T>
__device__ inline unsigned __match_all_sync(Mask mask, T value, int* predicate) {
  const unsigned members = cass_warp::ballot(true) & cass_warp::members(mask);
  const bool all = __match_any_sync(mask, value) == members;
  *predicate = all;
  return all ? members : 0u;
}

#define CASS_WARP_REDUCE(NAME, TYPE, IDENTITY, EXPRESSION)                            \
  template <typename Mask>                                                            \
  __device__ inline TYPE NAME(Mask mask, TYPE value) {                                \
    return cass_warp::reduce<TYPE>(cass_warp::members(mask), value, IDENTITY,         \
                                   [](TYPE a, TYPE b) { return EXPRESSION; });        \
  }
CASS_WARP_REDUCE(__reduce_add_sync, unsigned, 0u, a + b)
CASS_WARP_REDUCE(__reduce_add_sync, int, 0, static_cast<int>(unsigned(a) + unsigned(b)))
CASS_WARP_REDUCE(__reduce_min_sync, unsigned, 0xffffffffu, a < b ? a : b)
CASS_WARP_REDUCE(__reduce_min_sync, int, 0x7fffffff, a < b ? a : b)
CASS_WARP_REDUCE(__reduce_max_sync, unsigned, 0u, a > b ? a : b)
CASS_WARP_REDUCE(__reduce_max_sync, int, -0x7fffffff - 1, a > b ? a : b)
CASS_WARP_REDUCE(__reduce_and_sync, unsigned, 0xffffffffu, a & b)
CASS_WARP_REDUCE(__reduce_or_sync, unsigned, 0u, a | b)
CASS_WARP_REDUCE(__reduce_xor_sync, unsigned, 0u, a ^ b)
#undef CASS_WARP_REDUCE

#endif  // !HIP_ENABLE_WARP_SYNC_BUILTINS
