#ifndef CASS_BITS
#define CASS_BITS
// PTX's bit-field, permute and three-input logic instructions.
namespace cass {
template <typename Word>
__host__ __device__ inline Word field(Word a, Word fill, unsigned int start, unsigned int length) {
    const unsigned int top = 8 * sizeof(Word) - 1;
    if (start > top) return fill;
    const unsigned int kept = start + length > top ? top + 1 - start : length;
    const Word value = a >> start;
    return kept > top ? value : (value & ((Word(1) << kept) - 1)) | fill << kept;
}
template <typename Word>
__host__ __device__ inline Word unsigned_bfe(Word a, unsigned int start, unsigned int length) {
    start &= 255u, length &= 255u;
    return length == 0 ? 0 : field<Word>(a, 0, start, length);
}
template <typename Word>
__host__ __device__ inline Word signed_bfe(Word a, unsigned int start, unsigned int length) {
    start &= 255u, length &= 255u;
    if (length == 0) return 0;
    const unsigned int top = 8 * sizeof(Word) - 1, last = start + length - 1;
    return field<Word>(a, (a >> (last > top ? top : last) & 1) ? ~Word(0) : 0, start, length);
}
__host__ __device__ inline unsigned int bfe(unsigned int a, unsigned int start, unsigned int length) {
    return unsigned_bfe(a, start, length);
}
__host__ __device__ inline unsigned long long bfe(
    unsigned long long a, unsigned int start, unsigned int length) {
    return unsigned_bfe(a, start, length);
}
__host__ __device__ inline int bfe(int a, unsigned int start, unsigned int length) {
    return static_cast<int>(signed_bfe(static_cast<unsigned int>(a), start, length));
}
__host__ __device__ inline long long bfe(long long a, unsigned int start, unsigned int length) {
    return static_cast<long long>(signed_bfe(static_cast<unsigned long long>(a), start, length));
}
template <typename Word>
__host__ __device__ inline Word bfi(Word a, Word b, unsigned int start, unsigned int length) {
    const unsigned int top = 8 * sizeof(Word) - 1;
    start &= 255u, length &= 255u;
    if (start > top || length == 0) return b;
    const Word mask = (length > top ? ~Word(0) : (Word(1) << length) - 1) << start;
    return (b & ~mask) | (a << start & mask);
}
// A selector of 8 to 15 spreads the sign of a byte, which __byte_perm does not.
__host__ __device__ inline unsigned int prmt(
    unsigned int a, unsigned int b, unsigned int selectors) {
    const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
    unsigned int result = 0;
    for (unsigned int i = 0; i < 4; ++i) {
        const unsigned int selector = selectors >> 4 * i & 15u;
        const unsigned int byte = static_cast<unsigned int>(bytes >> 8 * (selector & 7u)) & 255u;
        result |= (selector < 8 ? byte : byte < 128 ? 0u : 255u) << 8 * i;
    }
    return result;
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
