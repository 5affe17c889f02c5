#ifndef CASS_BITS
#define CASS_BITS
// PTX's bit-field and three-input logic instructions.
namespace cass {
__host__ __device__ inline unsigned int bfe(unsigned int a, unsigned int start, unsigned int length) {
    start &= 255u, length &= 255u;
    if (start > 31 || length == 0) return 0;
    const unsigned int value = a >> start;
    return length > 31 ? value : value & ((1u << length) - 1u);
}
__host__ __device__ inline int bfe(int a, unsigned int start, unsigned int length) {
    start &= 255u, length &= 255u;
    if (length == 0) return 0;
    const unsigned int top = start + length - 1 > 31 ? 31 : start + length - 1;
    const unsigned int sign = (static_cast<unsigned int>(a) >> top & 1u) ? ~0u : 0u;
    if (start > 31) return static_cast<int>(sign);
    const unsigned int value = static_cast<unsigned int>(a) >> start;
    const unsigned int kept = top - start + 1;
    return static_cast<int>(kept > 31 ? value : (value & ((1u << kept) - 1u)) | sign << kept);
}
__host__ __device__ inline unsigned int bfi(
    unsigned int a, unsigned int b, unsigned int start, unsigned int length) {
    start &= 255u, length &= 255u;
    if (start > 31 || length == 0) return b;
    const unsigned int mask = (length > 31 ? ~0u : (1u << length) - 1u) << start;
    return (b & ~mask) | (a << start & mask);
}
__host__ __device__ inline unsigned int lop3(
    unsigned int a, unsigned int b, unsigned int c, unsigned int table) {
    unsigned int result = 0;
    for (unsigned int row = 0; row < 8; ++row)
        if (table >> row & 1u)
            result |= (row & 4u ? a : ~a) & (row & 2u ? b : ~b) & (row & 1u ? c : ~c);
    return result;
}
}  // namespace cass
#endif
