#ifndef CASS_GROUP_COALESCED
#define CASS_GROUP_COALESCED
#if defined(__HIPCC__)
#include <hip/hip_cooperative_groups.h>
// Groups of lanes of CUDA's warps of 32: HIP's coalesced_threads takes a wavefront of 64 on CDNA.
// labeled_partition and binary_partition, which HIP lacks.
namespace cass {
#ifdef __HIP_PLATFORM_NVIDIA__
using cooperative_groups::binary_partition;
using cooperative_groups::coalesced_threads;
using cooperative_groups::labeled_partition;
#else
class group_of_lanes : public cooperative_groups::coalesced_group {
public:
    __device__ group_of_lanes(unsigned long long lanes, unsigned int rank, unsigned int groups)
        : coalesced_group(lanes) {
        _size = __popcll(lanes);  // what a thread_group says, which HIP leaves at 0
        coalesced_info.tiled_info.meta_group_rank = rank;
        coalesced_info.tiled_info.meta_group_size = groups;
    }
};
// The first lane of the warp in its wavefront: 0, or 32 in the upper half of one of 64.
__device__ inline unsigned int first_lane_of_warp() { return __lane_id() & ~31u; }
__device__ inline cooperative_groups::coalesced_group group_of(
    unsigned int lanes, unsigned int rank = 0, unsigned int groups = 1) {
    return group_of_lanes(static_cast<unsigned long long>(lanes) << first_lane_of_warp(), rank, groups);
}
__device__ inline unsigned int votes_of_warp(bool vote) {
    return static_cast<unsigned int>(__ballot64(vote) >> first_lane_of_warp());
}
// The lanes of a group in its warp: those that are here, as a group's function is called by all of it.
__device__ inline unsigned int lanes_here() { return votes_of_warp(true); }
template <typename Group> __device__ inline unsigned int lanes_of(const Group& group) {
    unsigned int lanes = lanes_here();
    const unsigned int first = lanes;
    // Another group may be at the same place: members are those that the group's rank 0 names.
    const unsigned int leader = group.shfl(__lane_id() & 31u, 0);
    lanes = 0;
    for (unsigned int left = first; left != 0; left &= left - 1) {
        const unsigned int lane = __builtin_ctz(left);
        lanes |= (static_cast<unsigned int>(__shfl(static_cast<int>(leader), static_cast<int>(lane), 32)) == leader)
                 ? 1u << lane : 0u;
    }
    return lanes;
}
__device__ inline cooperative_groups::coalesced_group coalesced_threads() { return group_of(lanes_here()); }
template <typename Group> __device__ inline cooperative_groups::coalesced_group binary_partition(
    const Group& group, bool predicate) {
    const unsigned int all = lanes_of(group), holds = votes_of_warp(predicate) & all;
    const bool both = holds != 0 && holds != all;
    return group_of(predicate ? holds : all & ~holds, both && predicate ? 1 : 0, both ? 2 : 1);
}
template <typename Group, typename Label> __device__ inline cooperative_groups::coalesced_group labeled_partition(
    const Group& group, Label label) {
    unsigned int rank = 0, groups = 0, lanes = 0;
    for (unsigned int left = lanes_of(group); left != 0; ++groups) {
        const Label other = __shfl(label, __builtin_ctz(left), 32);
        const unsigned int same = votes_of_warp(other == label) & left;
        // The votes of lanes whose label is another one are for that of the first lane left.
        if (other == label) lanes = same, rank = groups;
        left &= ~same;
    }
    return group_of(lanes, rank, groups);
}
// Tiles of a coalesced group: HIP 6 loses the upper half of a wavefront of 64 lanes.
__device__ inline cooperative_groups::coalesced_group partition_tiles(
    const cooperative_groups::coalesced_group& group, unsigned int size) {
    if (group.size() <= size) return group;
    const unsigned int rank = group.thread_rank(), tile = rank / size;
    unsigned int lanes = 0;
    for (unsigned int left = lanes_of(group); left != 0; left &= left - 1) {
        const unsigned int lane = __builtin_ctz(left);
        lanes |= static_cast<unsigned int>(__shfl(static_cast<int>(tile), static_cast<int>(lane), 32)) == tile ? 1u << lane : 0u;
    }
    return group_of(lanes, tile, (group.size() + size - 1) / size);
}
#endif
template <typename Group> __device__ inline auto partition_tiles(const Group& group, unsigned int size) {
    return cooperative_groups::tiled_partition(group, size);
}
}  // namespace cass
#endif
#endif
