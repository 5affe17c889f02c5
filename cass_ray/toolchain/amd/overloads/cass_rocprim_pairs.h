// rocPRIM's partitions and segmented sorts add pairs of counts, for which HIP's classes have an
// operator and CUDA's structs, which ports bring (cass_vectors.h), have none. An operator would be
// one for the program, too.
#pragma once
template <typename T, unsigned int n>
struct HIP_vector_type;
namespace rocprim {
template <class T>
struct plus;
template <>
struct plus<HIP_vector_type<unsigned int, 2>> {
  template <typename Pair>
  __attribute__((host, device)) constexpr Pair operator()(const Pair& a, const Pair& b) const {
    return {a.x + b.x, a.y + b.y};
  }
};
}  // namespace rocprim
