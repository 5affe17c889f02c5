#ifndef CASS_GROUP_SHUFFLES
#define CASS_GROUP_SHUFFLES
#if defined(__HIPCC__)
#include <hip/hip_cooperative_groups.h>
#include <type_traits>
// Shuffles of cooperative groups for values of any type that can be copied, as CUDA has them: HIP's
// take numbers alone. Other classes' functions of these names are called as they are.
namespace cass {
template <typename Group> struct is_group : std::is_same<Group, cooperative_groups::coalesced_group> {};
template <unsigned int Size, typename Parent>
struct is_group<cooperative_groups::thread_block_tile<Size, Parent>> : std::true_type {};
template <typename Group, typename T>
using by_words = std::integral_constant<bool, is_group<Group>::value && !std::is_arithmetic<T>::value>;
template <typename T, typename Shuffle> __device__ inline T shuffle_words(T value, Shuffle shuffle) {
    unsigned int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned int& word : words) word = shuffle(word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}
#define CASS_GROUP_SHUFFLE(name)                                                              \
    template <typename Group, typename T, typename Lane>                                      \
    __device__ inline auto group_##name(const Group& group, T value, Lane lane, std::false_type) \
        -> decltype(group.name(value, lane)) {                                                \
        return group.name(value, lane);                                                       \
    }                                                                                         \
    template <typename Group, typename T, typename Lane>                                      \
    __device__ inline T group_##name(const Group& group, T value, Lane lane, std::true_type) {   \
        return shuffle_words(value, [&](unsigned int word) { return group.name(word, lane); }); \
    }                                                                                         \
    template <typename Group, typename T, typename Lane>                                      \
    __device__ inline T group_##name(const Group& group, T value, Lane lane) {                \
        return group_##name(group, value, lane, by_words<Group, T>());                        \
    }
CASS_GROUP_SHUFFLE(shfl)
CASS_GROUP_SHUFFLE(shfl_up)
CASS_GROUP_SHUFFLE(shfl_down)
CASS_GROUP_SHUFFLE(shfl_xor)
#undef CASS_GROUP_SHUFFLE
}  // namespace cass
#endif
#endif
