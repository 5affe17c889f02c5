// Products of matrices by four warps (PTX: wgmma.mma_async): a warp's 16 rows of them.
//
// A lane 4 g + t holds of the sums rows g and g + 8, and columns 2 t and 2 t + 1 of each eight. One
// instruction reads 32 bytes of each row of A and of each column of B, whatever the numbers are.

namespace {

using Sums = uint32_t __attribute__((address_space(5)));

// In the order of `lowering/semantics/warpgroup.py`.
enum Flag : uint32_t {
  a_in_registers = 1,
  is_negated = 2,
  transposes_a = 4,
  transposes_b = 8,
  keeps_sums = 16,
  saturates = 32
};

struct Given {
  Sums *sums;
  uint32_t a[4];
  uint64_t of_a, of_b;
  uint32_t warp, shift, tiles, flags;
};

// A word of the first, second, third and fourth lane of each four.
__device__ void of_four_lanes(uint32_t word, uint32_t *found) {
  found[0] = __builtin_amdgcn_mov_dpp((int)word, 0x00, 0xf, 0xf, true);
  found[1] = __builtin_amdgcn_mov_dpp((int)word, 0x55, 0xf, 0xf, true);
  found[2] = __builtin_amdgcn_mov_dpp((int)word, 0xaa, 0xf, 0xf, true);
  found[3] = __builtin_amdgcn_mov_dpp((int)word, 0xff, 0xf, 0xf, true);
}

// Rows g and g + 8 of A, from the registers of the four lanes that have them.
__device__ void gather(const uint32_t (&held)[4], uint32_t (&rows)[2][line_words]) {
  for (uint32_t row = 0; row < 2; ++row) {
    for (uint32_t part = 0; part < 2; ++part) {
      of_four_lanes(held[2 * part + row], rows[row] + 4 * part);
    }
  }
}

__device__ uint32_t lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) % 32;
}

// Rows g and g + 8 of A.
template <typename Numbers>
__device__ void read_rows(const Given &given, typename Numbers::Row (&rows)[2]) {
  uint32_t words[2][line_words];
  if (given.flags & a_in_registers) {
    gather(given.a, words);
  } else {
    const Matrix a(given.of_a, given.flags & transposes_a, given.shift);
    const uint32_t first = 16 * given.warp + lane() / 4;
    for (uint32_t row = 0; row < 2; ++row) a.read<2>(first + 8 * row, words[row]);
  }
  for (uint32_t row = 0; row < 2; ++row) {
    if (given.flags & is_negated) {
      for (uint32_t n = 0; n < line_words; ++n) words[row][n] ^= Numbers::signs;
    }
    Numbers::prepare(words[row], rows[row]);
  }
}

// A column of B; each row of A multiplies all of it.
template <typename Numbers>
class WholeColumns {
 public:
  __device__ explicit WholeColumns(const Given &given)
      : b_(given.of_b, given.flags & transposes_b, given.shift) {}
  __device__ void read(uint32_t column) {
    uint32_t words[line_words];
    b_.read<2>(column, words);
    Numbers::prepare(words, column_);
  }
  __device__ const typename Numbers::Column &of_row(uint32_t) const { return column_; }

 private:
  const Matrix b_;
  typename Numbers::Column column_;
};

template <typename Numbers, typename Columns>
__device__ void multiply(const Given &given, Columns columns) {
  typename Numbers::Row rows[2];
  read_rows<Numbers>(given, rows);
  for (uint32_t tile = 0; tile < given.tiles; ++tile) {
    typename Numbers::Sum sums[2][2];
    Sums *const held = given.sums + tile * Numbers::words;
    Numbers::read(held, given.flags & keeps_sums, sums);
    for (uint32_t n = 0; n < 2; ++n) {
      columns.read(8 * tile + lane() % 4 * 2 + n);
      for (uint32_t row = 0; row < 2; ++row) {
        sums[row][n] =
            Numbers::dot(rows[row], columns.of_row(row), sums[row][n], given.flags & saturates);
      }
    }
    Numbers::write(sums, held);
  }
}

__device__ float single(uint32_t bits) { return __builtin_bit_cast(float, bits); }
__device__ float half(uint32_t bits) { return __builtin_bit_cast(_Float16, (uint16_t)bits); }

// Kinds of floating-point numbers: bits in a register, bits of the fraction and of the exponent,
// where signs are, and bits below the fraction that are not looked at.
template <uint32_t BITS, uint32_t FRACTION, uint32_t EXPONENT, uint32_t SIGNS, uint32_t CUT = 0>
struct Format {
  static constexpr uint32_t bits = BITS, fraction = FRACTION, exponent = EXPONENT, signs = SIGNS;
  static constexpr uint32_t cut = CUT, count = line_words * 32 / BITS;
  static constexpr uint32_t infinity = ((1u << EXPONENT) - 1) << FRACTION;
  static __device__ bool is_infinite(uint32_t magnitude) { return magnitude == infinity; }
  static __device__ bool is_nan(uint32_t magnitude) { return magnitude > infinity; }
};
struct F16 : Format<16, 10, 5, 0x80008000> {};
struct BF16 : Format<16, 7, 8, 0x80008000> {};
struct TF32 : Format<32, 10, 8, 0x80000000, 13> {};
struct E5M2 : Format<8, 2, 5, 0x80808080> {};
struct E4M3 : Format<8, 3, 4, 0x80808080> {
  static __device__ bool is_infinite(uint32_t) { return false; }
  static __device__ bool is_nan(uint32_t magnitude) { return magnitude == 0x7f; }
};

// Exponents of numbers that have none; sums of two of them are told apart as well.
constexpr int32_t of_zero = -0x800, of_infinity = 0x2000, of_nan = 0x3000;
constexpr int32_t least_special = 0x800;

// A line of numbers: of each the significand with its sign in the low half, the exponent above.
template <typename Kind>
struct Line {
  int32_t numbers[Kind::count];
};

template <typename Kind>
__device__ void prepare_line(const uint32_t (&words)[line_words], Line<Kind> &line) {
  constexpr uint32_t in_word = 32 / Kind::bits, width = Kind::fraction + Kind::exponent;
  constexpr int32_t bias = (1 << (Kind::exponent - 1)) - 1;
  for (uint32_t n = 0; n < Kind::count; ++n) {
    const uint32_t code = words[n / in_word] >> (n % in_word * Kind::bits + Kind::cut);
    const uint32_t magnitude = code & ((1u << width) - 1);
    const uint32_t field = magnitude >> Kind::fraction;
    const uint32_t fraction = magnitude & ((1u << Kind::fraction) - 1);
    const int32_t significand = (int32_t)(fraction | (field != 0 ? 1u << Kind::fraction : 0));
    int32_t exponent = (field != 0 ? (int32_t)field : 1) - bias;
    if (magnitude == 0) exponent = of_zero;
    if (Kind::is_infinite(magnitude)) exponent = of_infinity;
    if (Kind::is_nan(magnitude)) exponent = of_nan;
    const int32_t with_sign = code >> width & 1 ? -significand : significand;
    line.numbers[n] = exponent * 0x10000 | (with_sign & 0xffff);
  }
}

struct Wide {
  int64_t sum;
  int32_t unit;  // the exponent of its last place
};

template <typename A, typename B>
__device__ int32_t greatest_exponent(const Line<A> &a, const Line<B> &b) {
  int32_t most = 2 * of_zero;
  for (uint32_t n = 0; n < A::count; ++n) {
    const int32_t of_product = (a.numbers[n] >> 16) + (b.numbers[n] >> 16);
    most = of_product > most ? of_product : most;
  }
  return most;
}

// The sum of all products and of `sum`, as an H100's tensor cores make it: each is cut, towards
// zero, to a multiple of 2^(e - KEPT), where e is the greatest of the exponents of the factors'
// sums and of `sum`'s; then they are added without loss.
template <uint32_t KEPT, typename A, typename B>
__device__ Wide aligned_sum(const Line<A> &a, const Line<B> &b, float sum) {
  constexpr uint32_t scale = KEPT - A::fraction - B::fraction;
  const uint32_t bits = __builtin_bit_cast(uint32_t, sum);
  const uint32_t field = bits >> 23 & 0xff;
  const uint32_t significand = (bits & 0x7fffff) | (field != 0 ? 0x800000 : 0);
  const int32_t exponent = significand == 0 ? of_zero : (field != 0 ? (int32_t)field : 1) - 127;
  const int32_t greatest = greatest_exponent(a, b);
  const int32_t most = exponent > greatest ? exponent : greatest;
  const auto cut = [](uint32_t magnitude, int32_t places) {
    return (int32_t)(magnitude >> (places < 31 ? places : 31));
  };
  int64_t total = KEPT >= 23 ? cut(significand << (KEPT - 23 & 31), most - exponent)
                             : cut(significand, most - exponent + (int32_t)(23 - KEPT));
  if (bits >> 31) total = -total;
  for (uint32_t n = 0; n < A::count; ++n) {
    const int32_t product = (int16_t)a.numbers[n] * (int16_t)b.numbers[n];
    const int32_t of_product = (a.numbers[n] >> 16) + (b.numbers[n] >> 16);
    const uint32_t magnitude = (uint32_t)(product < 0 ? -product : product) << scale;
    const int32_t kept = cut(magnitude, most - of_product);
    total += product < 0 ? -kept : kept;
  }
  return {total, most - (int32_t)KEPT};
}

// To a number with `kept` bits, towards zero, or where `is_odd` with its last bit set for what is
// lost, so that it can be rounded once more.
__device__ float narrowed(const Wide &wide, int32_t kept, bool is_odd) {
  const uint32_t magnitude = (uint32_t)(wide.sum < 0 ? -wide.sum : wide.sum);
  if (magnitude == 0) return 0;
  const int32_t top = 31 - __builtin_clz(magnitude);
  int32_t lost = top - (kept - 1);
  const int32_t least = -126 - (kept - 1) - wide.unit;  // to the last place of denormal numbers
  if (least > lost) lost = least;
  if (lost < 0) lost = 0;
  if (lost > 31) return 0;
  uint32_t rest = magnitude >> lost;
  if (is_odd && rest << lost != magnitude) rest |= 1;
  const float found = __builtin_ldexpf((float)rest, wide.unit + lost);
  return wide.sum < 0 ? -found : found;
}

constexpr uint32_t nan_bits = 0x7fffffff;

// The sum where one of the numbers is an infinity or none: what is finite does not matter.
template <typename A, typename B>
__device__ float special_sum(const Line<A> &a, const Line<B> &b, float sum) {
  constexpr uint32_t positive = 1, negative = 2, none = positive | negative;
  uint32_t found = 0;  // an infinity of each sign, or both, which give none
  if (sum == __builtin_inff()) found = positive;
  if (sum == -__builtin_inff()) found = negative;
  if (sum != sum) found = none;
  for (uint32_t n = 0; n < A::count; ++n) {
    const int32_t left = a.numbers[n] >> 16, right = b.numbers[n] >> 16;
    const int32_t product = (int16_t)a.numbers[n] * (int16_t)b.numbers[n];
    uint32_t here = product < 0 ? negative : positive;
    if (product == 0 || left == of_nan || right == of_nan) here = none;
    if (left + right >= least_special) found |= here;
  }
  if (found == none) return single(nan_bits);
  return found == negative ? -__builtin_inff() : __builtin_inff();
}

// Products of an H100 (recorded there: `tests/port/warpgroup`): places behind the greatest exponent
// that terms keep, and bits of sums in words.
template <typename A, typename B, bool IS_IN_HALVES>
struct Products {
  using Row = Line<A>;
  using Column = Line<B>;
  using Sum = float;
  static constexpr uint32_t signs = A::signs, bits = A::bits;
  static constexpr bool is_of_bytes = bits == 8;
  static constexpr uint32_t kept = is_of_bytes ? 13 : 25;
  static constexpr int32_t bits_of_sums = is_of_bytes && !IS_IN_HALVES ? 14 : 24;

  template <typename Kind>
  static __device__ void prepare(const uint32_t (&words)[line_words], Line<Kind> &line) {
    prepare_line(words, line);
  }

  static __device__ float dot(const Row &a, const Column &b, float sum, bool) {
    const bool is_finite = __builtin_fabsf(sum) < __builtin_inff();
    if (!is_finite || greatest_exponent(a, b) >= least_special) return special_sum(a, b, sum);
    return narrowed(aligned_sum<kept>(a, b, sum), bits_of_sums, IS_IN_HALVES);
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
struct ToSingle : Products<A, B, false>, InWords<float> {};
template <typename A, typename B>
struct ToHalf : Products<A, B, true>, InHalves {};

struct Words {
  uint32_t words[line_words];
};

// Integers: lines are as they are in memory.
struct Integers : InWords<uint32_t> {
  using Row = Words;
  using Column = Words;
  using Sum = uint32_t;
  static constexpr uint32_t signs = 0;

  static __device__ void prepare(const uint32_t (&words)[line_words], Words &line) {
    for (uint32_t n = 0; n < line_words; ++n) line.words[n] = words[n];
  }
};

template <typename A, typename B>
struct Bytes : Integers {
  static constexpr uint32_t bits = 8;
  static __device__ uint32_t dot(const Words &a, const Words &b, uint32_t sum, bool saturates) {
    int32_t found = 0;
    for (uint32_t k = 0; k < 4 * line_words; ++k) {
      const uint32_t place = k % 4 * 8;
      found += (int32_t)(A)(a.words[k / 4] >> place) * (int32_t)(B)(b.words[k / 4] >> place);
    }
    if (!saturates) return sum + (uint32_t)found;
    return (uint32_t)__builtin_elementwise_add_sat((int32_t)sum, found);
  }
};

struct Bits : Integers {
  static __device__ uint32_t dot(const Words &a, const Words &b, uint32_t sum, bool) {
    for (uint32_t n = 0; n < line_words; ++n) sum += __builtin_popcount(a.words[n] & b.words[n]);
    return sum;
  }
};

template <typename Numbers, typename Columns>
__attribute__((noinline)) __device__ void multiply_keeping_denormals(Given given, Columns columns) {
  multiply<Numbers>(given, columns);
}

// Tensor cores flush no denormal numbers, whatever the kernel does elsewhere.
template <typename Numbers, typename Columns>
__device__ void multiply_in_mode(const Given &given, const Columns &columns) {
  constexpr int denormals = 1 | 4 << 6 | 3 << 11;  // MODE, four bits from bit 4 on
  const uint32_t before = __builtin_amdgcn_s_getreg(denormals);
  __builtin_amdgcn_s_setreg(denormals, 0xf);
  multiply_keeping_denormals<Numbers>(given, columns);
  __builtin_amdgcn_s_setreg(denormals, before);
}

}  // namespace

// One function for each pair of kinds of numbers and kind of sums. `tiles` are eight columns each;
// `of_a` and `of_b` are descriptors, `shift` is added to addresses.
#define CASS_WARPGROUP(NAME, ...)                                                     \
  extern "C" __device__ __attribute__((noinline)) void __cass_warpgroup_##NAME(       \
      Sums *sums, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t of_a,  \
      uint64_t of_b, uint32_t warp, uint32_t shift, uint32_t tiles, uint32_t flags) { \
    using Numbers = __VA_ARGS__;                                                      \
    const Given given{sums, {a0, a1, a2, a3}, of_a, of_b, warp, shift, tiles, flags}; \
    multiply_in_mode<Numbers>(given, WholeColumns<Numbers>(given));                   \
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
