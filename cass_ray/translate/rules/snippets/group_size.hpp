#ifndef CASS_GROUP_SIZE
#define CASS_GROUP_SIZE
#include <hip/hip_cooperative_groups.h>
#include <type_traits>
// A tile's size as a constant: HIP's static functions are no constexpr.
namespace cass {
template <unsigned int Size, typename Parent>
std::integral_constant<unsigned int, Size> size_of_tile(const cooperative_groups::thread_block_tile<Size, Parent>*);
template <typename Group> __host__ __device__ constexpr unsigned int group_size() {
    return decltype(size_of_tile(static_cast<typename std::remove_reference<Group>::type*>(nullptr)))::value;
}
}  // namespace cass
#endif
