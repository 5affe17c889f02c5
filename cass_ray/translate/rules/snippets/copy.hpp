#ifndef CASS_COPY
#define CASS_COPY
namespace cass {
// Copies `wanted` of `Size` bytes and fills the rest with zeros (cp.async with a source size).
template <unsigned int Size>
__device__ inline void copy_and_fill(void* to, const void* from, unsigned int wanted) {
    for (unsigned int i = 0; i < Size; ++i)
        static_cast<char*>(to)[i] = i < wanted ? static_cast<const char*>(from)[i] : 0;
}
}  // namespace cass
#endif
