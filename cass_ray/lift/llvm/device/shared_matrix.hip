// Matrices in shared memory as tensor cores read them, by descriptors (PTX: wgmma, tcgen05).
//
// One instruction reads 32 bytes of each row of A and of each column of B, whatever the numbers
// are.

namespace {

constexpr uint32_t line_words = 8;
constexpr uint32_t line_bytes = 4 * line_words;
constexpr uint32_t chunk_bytes = 16;

using Chunk = uint32_t __attribute__((ext_vector_type(4)));
using SharedChunk = const Chunk __attribute__((address_space(3)));
template <uint32_t BYTES>
struct OfBytes;
template <>
struct OfBytes<1> {
  using Type = const uint8_t __attribute__((address_space(3)));
};
template <>
struct OfBytes<2> {
  using Type = const uint16_t __attribute__((address_space(3)));
};
template <>
struct OfBytes<4> {
  using Type = const uint32_t __attribute__((address_space(3)));
};

// A matrix in shared memory (PTX ISA, "Matrix Descriptor Format"; cuTe's "canonical layouts").
class Matrix {
 public:
  // `shift` is added to addresses. With `has_wide_atoms` bit 61 of the descriptor counts, as it
  // does from sm_100 on: the pattern of 128 bytes is swizzled in steps of 32 bytes.
  __device__ Matrix(uint64_t bits, bool is_transposed, uint32_t shift, bool has_wide_atoms = false)
      : start_(((uint32_t)bits & 0x3fff) * chunk_bytes),
        leading_(((uint32_t)(bits >> 16) & 0x3fff) * chunk_bytes),
        stride_(((uint32_t)(bits >> 32) & 0x3fff) * chunk_bytes),
        is_transposed_(is_transposed),
        has_wide_atoms_(has_wide_atoms && bits >> 61 & 1),
        shift_(shift) {
    const uint32_t mode = (uint32_t)(bits >> 62);
    width_ = has_wide_atoms_ ? 3 : mode == 0 ? 0 : 4 - mode;
    base_ = (uint32_t)(bits >> 49) & 7;
  }

  // The words of a row of A, or of a column of B, of numbers of so many bytes; `part` counts the 32
  // bytes of which a line has several.
  template <uint32_t BYTES>
  __device__ void read(uint32_t line, uint32_t (&words)[line_words], uint32_t part = 0) const {
    if (is_transposed_) {
      constexpr uint32_t in_word = 4 / BYTES;
      for (uint32_t n = 0; n < line_words; ++n) {
        words[n] = 0;
        for (uint32_t k = 0; k < in_word; ++k) {
          const uint32_t place = in_word * (line_words * part + n) + k;
          words[n] |= (uint32_t)number<BYTES>(line, place) << 8 * BYTES * k;
        }
      }
      return;
    }
    for (uint32_t chunk = 0; chunk < 2; ++chunk) {
      const Chunk found = this->chunk(line, 2 * part + chunk);
      for (uint32_t n = 0; n < 4; ++n) words[4 * chunk + n] = found[n];
    }
  }

  // 16 bytes of a line that is not transposed.
  __device__ Chunk chunk(uint32_t line, uint32_t number) const {
    return *(SharedChunk *)place(line, number);
  }

 private:
  template <uint32_t BYTES>
  __device__ typename OfBytes<BYTES>::Type &number(uint32_t line, uint32_t k) const {
    const uint32_t byte = line * BYTES;
    return *(typename OfBytes<BYTES>::Type *)(place(k, byte / chunk_bytes) + byte % chunk_bytes);
  }

  // Where 16 bytes are, of `line` across and number `chunk` along what is contiguous. Patterns are
  // eight lines of 1, 2, 4 or 8 chunks (1 << width_), and swizzled by the address: base_ says at
  // which line of 128 bytes they begin (as an H100 has it; the other bits it does not look at).
  __device__ uint32_t place(uint32_t line, uint32_t chunk) const {
    if (has_wide_atoms_) return wide_place(line, chunk);
    const uint32_t inside = line % 8, outside = line / 8;
    if (width_ == 0) {
      const uint32_t across = is_transposed_ ? leading_ : stride_;
      const uint32_t along = is_transposed_ ? stride_ : leading_;
      return start_ + inside * chunk_bytes + outside * across + chunk * along + shift_;
    }
    const uint32_t mask = (1u << width_) - 1;
    const uint32_t address = start_ + ((inside << width_) + (chunk & mask)) * chunk_bytes +
                             outside * stride_ + (chunk >> width_) * leading_;
    return (address ^ ((address >> 7) - base_ & mask) * chunk_bytes) + shift_;
  }

  // Patterns of four lines of 128 bytes, whose parts of 32 bytes change places.
  __device__ uint32_t wide_place(uint32_t line, uint32_t chunk) const {
    const uint32_t address = start_ + (line % 4 * 8 + chunk % 8) * chunk_bytes +
                             line / 4 * stride_ + chunk / 8 * leading_;
    return (address ^ (address >> 7 & 3) * 2 * chunk_bytes) + shift_;
  }

  uint32_t start_, leading_, stride_;
  bool is_transposed_, has_wide_atoms_;
  uint32_t shift_, width_, base_;
};

}  // namespace
