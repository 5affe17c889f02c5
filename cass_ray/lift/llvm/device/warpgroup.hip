// Products of matrices by four warps (PTX: wgmma.mma_async): a warp's 16 rows of them.
//
// A lane 4 g + t holds of the sums rows g and g + 8, and columns 2 t and 2 t + 1 of each eight. One
// instruction reads 32 bytes of each row of A and of each column of B, whatever the numbers are.
// Each product is added to the sum in the order of K, and the sum rounded.

namespace {

constexpr uint32_t line_words = 8;
constexpr uint32_t chunk_bytes = 16;

using Sums = uint32_t __attribute__((address_space(5)));
using SharedHalf = const uint16_t __attribute__((address_space(3)));
using Chunk = uint32_t __attribute__((ext_vector_type(4)));
using SharedChunk = const Chunk __attribute__((address_space(3)));

// In the order of `lowering/semantics/warpgroup.py`.
enum Flag : uint32_t {
  a_in_registers = 1,
  is_negated = 2,
  transposes_a = 4,
  transposes_b = 8,
  keeps_sums = 16,
  saturates = 32
};

// A matrix in shared memory (PTX ISA, "Matrix Descriptor Format"; cuTe's "canonical layouts").
class Matrix {
 public:
  __device__ Matrix(uint64_t bits, bool is_transposed, uint32_t shift)
      : start_(((uint32_t)bits & 0x3fff) * chunk_bytes),
        leading_(((uint32_t)(bits >> 16) & 0x3fff) * chunk_bytes),
        stride_(((uint32_t)(bits >> 32) & 0x3fff) * chunk_bytes),
        is_transposed_(is_transposed),
        shift_(shift) {
    const uint32_t mode = (uint32_t)(bits >> 62);
    width_ = mode == 0 ? 0 : 4 - mode;
    base_ = (uint32_t)(bits >> 49) & 7;
  }

  // The words of a row of A, or of a column of B.
  __device__ void read(uint32_t line, uint32_t (&words)[line_words]) const {
    if (is_transposed_) {
      for (uint32_t n = 0; n < line_words; ++n) {
        words[n] = half(line, 2 * n) | (uint32_t)half(line, 2 * n + 1) << 16;
      }
      return;
    }
    for (uint32_t chunk = 0; chunk < 2; ++chunk) {
      const Chunk found = *(SharedChunk *)place(line, chunk);
      for (uint32_t n = 0; n < 4; ++n) words[4 * chunk + n] = found[n];
    }
  }

 private:
  __device__ uint16_t half(uint32_t line, uint32_t k) const {
    return *(SharedHalf *)(place(k, line / 8) + line % 8 * 2);
  }

  // Where 16 bytes are, of `line` across and number `chunk` along what is contiguous. Patterns are
  // eight lines of 1, 2, 4 or 8 chunks (1 << width_), and swizzled by the address: base_ says at
  // which line of 128 bytes they begin (as an H100 has it; the other bits it does not look at).
  __device__ uint32_t place(uint32_t line, uint32_t chunk) const {
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

  uint32_t start_, leading_, stride_;
  bool is_transposed_;
  uint32_t shift_, width_, base_;
};

struct Given {
  Sums *sums;
  uint32_t a[4];
  uint64_t of_a, of_b;
  uint32_t warp, shift, tiles, flags;
};

// Rows g and g + 8 of A, from the registers of the four lanes that have them.
__device__ void gather(const uint32_t (&held)[4], uint32_t (&rows)[2][line_words]) {
  for (uint32_t row = 0; row < 2; ++row) {
    for (uint32_t part = 0; part < 2; ++part) {
      const int word = (int)held[2 * part + row];
      // A word of the first, second, third and fourth lane of each four.
      rows[row][4 * part + 0] = __builtin_amdgcn_mov_dpp(word, 0x00, 0xf, 0xf, true);
      rows[row][4 * part + 1] = __builtin_amdgcn_mov_dpp(word, 0x55, 0xf, 0xf, true);
      rows[row][4 * part + 2] = __builtin_amdgcn_mov_dpp(word, 0xaa, 0xf, 0xf, true);
      rows[row][4 * part + 3] = __builtin_amdgcn_mov_dpp(word, 0xff, 0xf, 0xf, true);
    }
  }
}

__device__ uint32_t lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) % 32;
}

template <typename Numbers>
__device__ void multiply(const Given &given) {
  const uint32_t group = lane() / 4, first_column = lane() % 4 * 2;
  uint32_t rows[2][line_words];
  if (given.flags & a_in_registers) {
    gather(given.a, rows);
  } else {
    const Matrix a(given.of_a, given.flags & transposes_a, given.shift);
    for (uint32_t row = 0; row < 2; ++row) a.read(16 * given.warp + 8 * row + group, rows[row]);
  }
  if (given.flags & is_negated) {
    for (uint32_t n = 0; n < line_words; ++n) {
      rows[0][n] ^= Numbers::signs;
      rows[1][n] ^= Numbers::signs;
    }
  }
  const Matrix b(given.of_b, given.flags & transposes_b, given.shift);
  for (uint32_t tile = 0; tile < given.tiles; ++tile) {
    typename Numbers::Sum sums[2][2];
    Sums *const held = given.sums + tile * Numbers::words;
    Numbers::read(held, given.flags & keeps_sums, sums);
    for (uint32_t n = 0; n < 2; ++n) {
      uint32_t column[line_words];
      b.read(8 * tile + first_column + n, column);
      for (uint32_t row = 0; row < 2; ++row) {
        sums[row][n] = Numbers::dot(rows[row], column, sums[row][n], given.flags & saturates);
      }
    }
    Numbers::write(sums, held);
  }
}

using Line = const uint32_t (&)[line_words];

__device__ float single(uint32_t bits) { return __builtin_bit_cast(float, bits); }
__device__ float half(uint32_t bits) { return __builtin_bit_cast(_Float16, (uint16_t)bits); }

// Kinds of numbers: how many bits they have, where their signs are, and number `n` of a line.
struct F16 {
  static constexpr uint32_t bits = 16, signs = 0x80008000;
  static __device__ float number(uint32_t code) { return half(code); }
};
struct BF16 {
  static constexpr uint32_t bits = 16, signs = 0x80008000;
  static __device__ float number(uint32_t code) { return single(code << 16); }
};
struct TF32 {
  static constexpr uint32_t bits = 32, signs = 0x80000000;
  static __device__ float number(uint32_t code) { return single(code & ~0u << 13); }
};
struct E5M2 {
  static constexpr uint32_t bits = 8, signs = 0x80808080;
  static __device__ float number(uint32_t code) { return half(code << 8); }
};
struct E4M3 {
  static constexpr uint32_t bits = 8, signs = 0x80808080;
  static __device__ float number(uint32_t code) {
    if ((code & 0x7f) == 0x7f) return single(0x7fffffff);
    // The exponent's bias is 8 less than that of half precision: 2^8 times too small.
    return half((code & 0x80) << 8 | (code & 0x7f) << 7) * 256.0f;
  }
};

template <typename A, typename B>
struct Products {
  using Sum = float;
  static constexpr uint32_t signs = A::signs;

  static __device__ float dot(Line a, Line b, float sum, bool) {
    constexpr uint32_t in_word = 32 / A::bits;
    constexpr uint32_t mask = ~0u >> (32 - A::bits);
    for (uint32_t k = 0; k < line_words * in_word; ++k) {
      const uint32_t place = k % in_word * A::bits;
      sum = __builtin_fmaf(A::number(a[k / in_word] >> place & mask),
                           B::number(b[k / in_word] >> place & mask), sum);
    }
    return sum;
  }
};

// Sums of words: rows g and g + 8, two columns each.
template <typename Sum>
struct InWords {
  static constexpr uint32_t words = 4;

  static __device__ void read(const Sums *from, bool keeps, Sum (&sums)[2][2]) {
    for (uint32_t n = 0; n < words; ++n) {
      sums[n / 2][n % 2] = __builtin_bit_cast(Sum, keeps ? from[n] : 0);
    }
  }
  static __device__ void write(const Sum (&sums)[2][2], Sums *to) {
    for (uint32_t n = 0; n < words; ++n) to[n] = __builtin_bit_cast(uint32_t, sums[n / 2][n % 2]);
  }
};

// The same of half precision, two columns in a word.
struct InHalves {
  static constexpr uint32_t words = 2;

  static __device__ void read(const Sums *from, bool keeps, float (&sums)[2][2]) {
    for (uint32_t n = 0; n < 4; ++n) {
      sums[n / 2][n % 2] = keeps ? half(from[n / 2] >> n % 2 * 16) : 0;
    }
  }
  static __device__ void write(const float (&sums)[2][2], Sums *to) {
    for (uint32_t row = 0; row < words; ++row) {
      const uint32_t low = __builtin_bit_cast(uint16_t, (_Float16)sums[row][0]);
      to[row] = low | (uint32_t)__builtin_bit_cast(uint16_t, (_Float16)sums[row][1]) << 16;
    }
  }
};

template <typename A, typename B>
struct ToSingle : Products<A, B>, InWords<float> {};
template <typename A, typename B>
struct ToHalf : Products<A, B>, InHalves {};

template <typename A, typename B>
struct Bytes : InWords<uint32_t> {
  using Sum = uint32_t;
  static constexpr uint32_t signs = 0;

  static __device__ uint32_t dot(Line a, Line b, uint32_t sum, bool saturates) {
    int32_t found = 0;
    for (uint32_t k = 0; k < 4 * line_words; ++k) {
      const uint32_t place = k % 4 * 8;
      found += (int32_t)(A)(a[k / 4] >> place) * (int32_t)(B)(b[k / 4] >> place);
    }
    if (!saturates) return sum + (uint32_t)found;
    return (uint32_t)__builtin_elementwise_add_sat((int32_t)sum, found);
  }
};

struct Bits : InWords<uint32_t> {
  using Sum = uint32_t;
  static constexpr uint32_t signs = 0;

  static __device__ uint32_t dot(Line a, Line b, uint32_t sum, bool) {
    for (uint32_t n = 0; n < line_words; ++n) sum += __builtin_popcount(a[n] & b[n]);
    return sum;
  }
};

template <typename Numbers>
__attribute__((noinline)) __device__ void multiply_keeping_denormals(Given given) {
  multiply<Numbers>(given);
}

// Tensor cores flush no denormal numbers, whatever the kernel does elsewhere.
template <typename Numbers>
__device__ void multiply_in_mode(const Given &given) {
  constexpr int denormals = 1 | 4 << 6 | 3 << 11;  // MODE, four bits from bit 4 on
  const uint32_t before = __builtin_amdgcn_s_getreg(denormals);
  __builtin_amdgcn_s_setreg(denormals, 0xf);
  multiply_keeping_denormals<Numbers>(given);
  __builtin_amdgcn_s_setreg(denormals, before);
}

}  // namespace

// One function for each pair of kinds of numbers and kind of sums. `tiles` are eight columns each;
// `of_a` and `of_b` are descriptors, `shift` is added to addresses.
#define CASS_WARPGROUP(NAME, ...)                                                                \
  extern "C" __device__ __attribute__((noinline)) void __cass_warpgroup_##NAME(                  \
      Sums *sums, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t of_a,             \
      uint64_t of_b, uint32_t warp, uint32_t shift, uint32_t tiles, uint32_t flags) {            \
    multiply_in_mode<__VA_ARGS__>({sums, {a0, a1, a2, a3}, of_a, of_b, warp, shift, tiles,       \
                                   flags});                                                      \
  }
CASS_WARPGROUP(f32_f16_f16, ToSingle<F16, F16>)
CASS_WARPGROUP(f32_bf16_bf16, ToSingle<BF16, BF16>)
CASS_WARPGROUP(f32_tf32_tf32, ToSingle<TF32, TF32>)
CASS_WARPGROUP(f32_e4m3_e4m3, ToSingle<E4M3, E4M3>)
CASS_WARPGROUP(f32_e4m3_e5m2, ToSingle<E4M3, E5M2>)
CASS_WARPGROUP(f32_e5m2_e4m3, ToSingle<E5M2, E4M3>)
CASS_WARPGROUP(f32_e5m2_e5m2, ToSingle<E5M2, E5M2>)
CASS_WARPGROUP(f16_f16_f16, ToHalf<F16, F16>)
CASS_WARPGROUP(f16_e4m3_e4m3, ToHalf<E4M3, E4M3>)
CASS_WARPGROUP(f16_e4m3_e5m2, ToHalf<E4M3, E5M2>)
CASS_WARPGROUP(f16_e5m2_e4m3, ToHalf<E5M2, E4M3>)
CASS_WARPGROUP(f16_e5m2_e5m2, ToHalf<E5M2, E5M2>)
CASS_WARPGROUP(s32_s8_s8, Bytes<int8_t, int8_t>)
CASS_WARPGROUP(s32_s8_u8, Bytes<int8_t, uint8_t>)
CASS_WARPGROUP(s32_u8_s8, Bytes<uint8_t, int8_t>)
CASS_WARPGROUP(s32_u8_u8, Bytes<uint8_t, uint8_t>)
CASS_WARPGROUP(s32_b1_b1, Bits)
#undef CASS_WARPGROUP
