// Products of sparse matrices by four warps (PTX: wgmma.mma_async.sp).
//
// A row of A has 32 bytes, of which each chunk of a row of the whole matrix gave two numbers of
// four (of single precision one of two); a nibble of metadata says for each which it was. A column
// of B has 64 bytes. `lowering/semantics/sparse.py` tells more of the metadata.

namespace {

// The nibbles that the four lanes of a row have.
struct Metadata {
  uint32_t words[4];
  uint32_t selector;

  __device__ Metadata(uint32_t word, uint32_t selector) : selector(selector) {
    of_four_lanes(word, words);
  }

  // Numbers of 16 or 32 bits: one of two pairs of lanes has both rows.
  __device__ uint32_t of_wide(uint32_t row, uint32_t chunk) const {
    return words[2 * selector + chunk / 4] >> 4 * (chunk % 4 + 4 * row);
  }
  // Of 8 bits: each lane has half a row.
  __device__ uint32_t of_narrow(uint32_t row, uint32_t chunk) const {
    return words[row + 2 * (chunk / 8)] >> 4 * (chunk % 8);
  }
};

// Those numbers of a column of B that a row of A multiplies.
template <typename Numbers>
class ChosenColumns {
 public:
  __device__ ChosenColumns(const Given &given, const Metadata &metadata)
      : b_(given.of_b, given.flags & transposes_b, given.shift), metadata_(metadata) {}

  __device__ void read(uint32_t column) {
    uint32_t whole[2][line_words];
    for (uint32_t part = 0; part < 2; ++part) b_.read<2>(column, whole[part], part);
    for (uint32_t row = 0; row < 2; ++row) {
      uint32_t chosen[line_words];
      for (uint32_t n = 0; n < line_words; ++n) {
        // A word of numbers of A is of as many words of B as two of its own.
        const uint32_t *two = whole[n / (line_words / 2)] + 2 * n % line_words;
        chosen[n] = choose(two, row, n);
      }
      Numbers::prepare(chosen, columns_[row]);
    }
  }
  __device__ const typename Numbers::Column &of_row(uint32_t row) const { return columns_[row]; }

 private:
  // The word that word `n` of a row is multiplied by.
  __device__ uint32_t choose(const uint32_t *two, uint32_t row, uint32_t n) const {
    if (Numbers::bits == 32) return two[(metadata_.of_wide(row, n) >> 2 & 3) == 3];
    uint32_t found = 0;
    if (Numbers::bits == 16) {
      for (uint32_t k = 0; k < 2; ++k) {
        const uint32_t index = metadata_.of_wide(row, n) >> 2 * k & 3;
        found |= (two[index / 2] >> index % 2 * 16 & 0xffff) << 16 * k;
      }
      return found;
    }
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t index = metadata_.of_narrow(row, 2 * n + k / 2) >> k % 2 * 2 & 3;
      found |= (two[k / 2] >> 8 * index & 0xff) << 8 * k;
    }
    return found;
  }

  const Matrix b_;
  const Metadata metadata_;
  typename Numbers::Column columns_[2];
};

}  // namespace

// As those of `warpgroup.hip`; `metadata` is the lane's word, `selector` says which lanes' count.
#define CASS_SPARSE_WARPGROUP(NAME, ...)                                                   \
  extern "C" __device__ __attribute__((noinline)) void __cass_warpgroup_sparse_##NAME(     \
      Sums *sums, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t of_a,       \
      uint64_t of_b, uint32_t warp, uint32_t shift, uint32_t tiles, uint32_t flags,        \
      uint32_t metadata, uint32_t selector) {                                              \
    using Numbers = __VA_ARGS__;                                                           \
    const Given given{sums, {a0, a1, a2, a3}, of_a, of_b, warp, shift, tiles, flags};      \
    multiply_in_mode<Numbers>(given, ChosenColumns<Numbers>(given, {metadata, selector})); \
  }
CASS_SPARSE_WARPGROUP(f32_f16_f16, ToSingle<F16, F16>)
CASS_SPARSE_WARPGROUP(f32_bf16_bf16, ToSingle<BF16, BF16>)
CASS_SPARSE_WARPGROUP(f32_tf32_tf32, ToSingle<TF32, TF32>)
CASS_SPARSE_WARPGROUP(f32_e4m3_e4m3, ToSingle<E4M3, E4M3>)
CASS_SPARSE_WARPGROUP(f32_e4m3_e5m2, ToSingle<E4M3, E5M2>)
CASS_SPARSE_WARPGROUP(f32_e5m2_e4m3, ToSingle<E5M2, E4M3>)
CASS_SPARSE_WARPGROUP(f32_e5m2_e5m2, ToSingle<E5M2, E5M2>)
CASS_SPARSE_WARPGROUP(f16_f16_f16, ToHalf<F16, F16>)
CASS_SPARSE_WARPGROUP(f16_e4m3_e4m3, ToHalf<E4M3, E4M3>)
CASS_SPARSE_WARPGROUP(f16_e4m3_e5m2, ToHalf<E4M3, E5M2>)
CASS_SPARSE_WARPGROUP(f16_e5m2_e4m3, ToHalf<E5M2, E4M3>)
CASS_SPARSE_WARPGROUP(f16_e5m2_e5m2, ToHalf<E5M2, E5M2>)
CASS_SPARSE_WARPGROUP(s32_s8_s8, Bytes<int8_t, int8_t>)
CASS_SPARSE_WARPGROUP(s32_s8_u8, Bytes<int8_t, uint8_t>)
CASS_SPARSE_WARPGROUP(s32_u8_s8, Bytes<uint8_t, int8_t>)
CASS_SPARSE_WARPGROUP(s32_u8_u8, Bytes<uint8_t, uint8_t>)
#undef CASS_SPARSE_WARPGROUP
