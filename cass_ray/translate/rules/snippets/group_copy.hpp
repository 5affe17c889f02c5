#ifndef CASS_GROUP_COPY
#define CASS_GROUP_COPY
#include <hip/hip_cooperative_groups.h>
// cooperative_groups/memcpy_async.h, done at once: `wait` makes the copy visible to the group.
namespace cass {
template <typename Group>
__device__ inline void group_memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
    const bool words = ((reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes) & 3) == 0;
    if (words) {
        for (size_t i = group.thread_rank(); i < bytes / 4; i += group.size())
            static_cast<int*>(to)[i] = static_cast<const int*>(from)[i];
    } else {
        for (size_t i = group.thread_rank(); i < bytes; i += group.size())
            static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
    }
}
template <typename Group, typename T, typename ToLayout, typename FromLayout>
__device__ inline void group_memcpy_async(
    const Group& group, T* to, const ToLayout& to_layout, const T* from, const FromLayout& from_layout) {
    const size_t count = to_layout < from_layout ? to_layout : from_layout;
    group_memcpy_async(group, static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(T));
}
template <typename Group> __device__ inline void group_wait(const Group& group) { group.sync(); }
template <unsigned int Stages, typename Group> __device__ inline void group_wait_prior(const Group& group) {
    group.sync();
}
}  // namespace cass
#endif
