#ifndef CASS_GROUP_REDUCE
#define CASS_GROUP_REDUCE
#if defined(__HIPCC__)
#include <hip/hip_cooperative_groups.h>
// cooperative_groups/reduce.h for tiles and coalesced groups.
namespace cass {
template <typename T = void> struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T = void> struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T = void> struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T = void> struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <typename T = void> struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};
template <typename T = void> struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};
// The value of the thread of rank `rank`, of any type that can be copied byte by byte.
template <typename Group, typename T>
__device__ inline T group_shuffle(const Group& group, T value, unsigned int rank) {
    union Words {
        T value;
        int words[(sizeof(T) + 3) / 4];
        __device__ Words() : words{} {}
    } shuffled;
    shuffled.value = value;
    for (int& word : shuffled.words) word = group.shfl(word, rank);
    return shuffled.value;
}
template <typename Group, typename T, typename Operation>
__device__ inline T group_reduce(const Group& group, T value, Operation operation) {
    T result = group_shuffle(group, value, 0);
    for (unsigned int rank = 1; rank < group.size(); ++rank)
        result = operation(result, group_shuffle(group, value, rank));
    return result;
}
template <unsigned int Size, typename Parent, typename T, typename Operation>
__device__ inline T group_reduce(
    const cooperative_groups::thread_block_tile<Size, Parent>& group, T value, Operation operation) {
    for (unsigned int distance = Size / 2; distance > 0; distance /= 2)
        value = operation(value, group_shuffle(group, value, group.thread_rank() ^ distance));
    return value;
}
}  // namespace cass
#endif
#endif
