#ifndef CASS_MATCH
#define CASS_MATCH
#if defined(__HIPCC__)
namespace cass {
// The lanes of `mask` whose value equals this lane's.
template <typename T>
__device__ inline unsigned int match_any(unsigned int mask, T value) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __match_any_sync(mask, value);
#else
    unsigned int same = 0;
    for (unsigned int left = ballot(mask, 1); left != 0;) {
        const T first = __shfl(value, __ffs(left) - 1, 32);
        const unsigned int equal = ballot(mask, value == first);
        if (value == first) same = equal;
        left &= ~equal;
    }
    return same;
#endif
}
// The lanes of `mask` that have not ended when all of them hold the same value, else 0.
template <typename T>
__device__ inline unsigned int match_all(unsigned int mask, T value, int* equal) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __match_all_sync(mask, value, equal);
#else
    const unsigned int there = ballot(mask, 1);
    const T first = __shfl(value, __ffs(there) - 1, 32);
    *equal = all(mask, value == first);
    return *equal ? there : 0;
#endif
}
}  // namespace cass
#endif
#endif
