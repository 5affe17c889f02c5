#ifndef CASS_GROUP_SCAN
#define CASS_GROUP_SCAN
#if defined(__HIPCC__)
// cooperative_groups/scan.h for tiles and coalesced groups.
namespace cass {
template <typename Group, typename T, typename Operation>
__device__ inline T group_inclusive_scan(const Group& group, T value, Operation operation) {
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        const unsigned int rank = group.thread_rank();
        const T lower = group_shuffle(group, value, rank < distance ? rank : rank - distance);
        if (rank >= distance) value = operation(lower, value);
    }
    return value;
}
template <typename Group, typename T>
__device__ inline T group_inclusive_scan(const Group& group, T value) {
    return group_inclusive_scan(group, value, plus<T>());
}
template <typename Group, typename T, typename Operation>
__device__ inline T group_exclusive_scan(const Group& group, T value, Operation operation) {
    const T inclusive = group_inclusive_scan(group, value, operation);
    const unsigned int rank = group.thread_rank();
    const T lower = group_shuffle(group, inclusive, rank == 0 ? 0 : rank - 1);
    return rank == 0 ? T{} : lower;
}
template <typename Group, typename T>
__device__ inline T group_exclusive_scan(const Group& group, T value) {
    return group_exclusive_scan(group, value, plus<T>());
}
}  // namespace cass
#endif
#endif
