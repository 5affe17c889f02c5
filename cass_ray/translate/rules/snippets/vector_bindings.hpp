#ifndef CASS_VECTOR_BINDINGS
#define CASS_VECTOR_BINDINGS
#if defined(__HIP_PLATFORM_AMD__) && !defined(CASS_PLAIN_VECTORS)
#include <cstddef>
#include <tuple>
#include <type_traits>
// auto [x, y] = float2: CUDA's vectors are plain structs, HIP's are classes around a union.
namespace std {
template <typename T, unsigned int rank>
struct tuple_size<HIP_vector_type<T, rank>> : integral_constant<size_t, rank> {};
template <size_t place, typename T, unsigned int rank>
struct tuple_element<place, HIP_vector_type<T, rank>> {
    using type = T;
};
}  // namespace std
template <std::size_t place, typename T, unsigned int rank>
__host__ __device__ constexpr T& get(HIP_vector_type<T, rank>& vector) {
    if constexpr (place == 0) return vector.x;
    else if constexpr (place == 1) return vector.y;
    else if constexpr (place == 2) return vector.z;
    else return vector.w;
}
template <std::size_t place, typename T, unsigned int rank>
__host__ __device__ constexpr const T& get(const HIP_vector_type<T, rank>& vector) {
    return get<place>(const_cast<HIP_vector_type<T, rank>&>(vector));
}
template <std::size_t place, typename T, unsigned int rank>
__host__ __device__ constexpr T&& get(HIP_vector_type<T, rank>&& vector) {
    return static_cast<T&&>(get<place>(vector));
}
#endif
#endif
