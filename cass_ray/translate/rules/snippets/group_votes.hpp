#ifndef CASS_GROUP_VOTES
#define CASS_GROUP_VOTES
#if defined(__HIPCC__)
#include <hip/hip_cooperative_groups.h>
// Votes of cooperative groups: bit i of a result stands for the thread of rank i.
namespace cass {
template <typename Group> __device__ inline unsigned int group_ballot(const Group& group, int predicate) {
    unsigned int result = 0;
    for (unsigned int rank = 0; rank < group.size(); ++rank)
        result |= (group.shfl(predicate, rank) ? 1u : 0u) << rank;
    return result;
}
template <unsigned int Size, typename Parent>
__device__ inline unsigned int group_ballot(
    const cooperative_groups::thread_block_tile<Size, Parent>& group, int predicate) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return group.ballot(predicate);
#else
    static_cast<void>(group);
    static_assert(Size <= 32, "a tile of CUDA has at most 32 threads here");
    const unsigned long long all = (1ull << Size) - 1;
    return static_cast<unsigned int>((__ballot64(predicate) >> (__lane_id() & ~(Size - 1))) & all);
#endif
}
template <typename Group> __device__ inline int group_any(const Group& group, int predicate) {
    return group_ballot(group, predicate) != 0;
}
template <typename Group> __device__ inline int group_all(const Group& group, int predicate) {
    return group_ballot(group, !predicate) == 0;
}
template <typename Group, typename T>
__device__ inline unsigned int group_match_any(const Group& group, T value) {
    unsigned int result = 0;
    for (unsigned int rank = 0; rank < group.size(); ++rank)
        result |= (group.shfl(value, rank) == value ? 1u : 0u) << rank;
    return result & group_ballot(group, 1);  // Without threads that have ended.
}
template <typename Group, typename T>
__device__ inline unsigned int group_match_all(const Group& group, T value, int& predicate) {
    predicate = group_all(group, group.shfl(value, 0) == value);
    return predicate ? group_ballot(group, 1) : 0u;
}
}  // namespace cass
#endif
#endif
