// Products of matrices whose sums are in tensor memory (PTX: tcgen05.mma), of one block or of two.
//
// Each lane of tensor memory has a row of the sums, or a part of one; of A, where that is in tensor
// memory, it has the row that it needs. One thread computes all.

namespace {
namespace tensor {

// In the order of `lowering/semantics/tensor_product.py`.
enum Flag : uint32_t { a_in_memory = 1, keeps = 2, of_two_blocks = 4, keeps_weights = 8 };

// What an instruction is told: fields of its descriptor (PTX ISA, "Instruction descriptor").
struct Instruction {
  uint32_t bits, flags;

  __device__ uint32_t field(uint32_t first, uint32_t count) const {
    return bits >> first & ((1u << count) - 1);
  }
  __device__ bool is_sparse() const { return field(2, 1); }
  __device__ bool saturates() const { return field(3, 1); }
  __device__ uint32_t format_of_sums() const { return field(4, 2); }
  __device__ uint32_t format_of_a() const { return field(7, 3); }
  __device__ uint32_t format_of_b() const { return field(10, 3); }
  __device__ bool is_negated() const { return field(13, 1) != field(14, 1); }
  __device__ bool transposes_a() const { return field(15, 1); }
  __device__ bool transposes_b() const { return field(16, 1); }
  __device__ uint32_t columns() const { return 8 * field(17, 6); }
  __device__ uint32_t rows() const { return 16 * field(24, 5) >> blocks() - 1; }  // of a block
  __device__ uint32_t blocks() const { return flags & of_two_blocks ? 2 : 1; }
};

struct Product {
  Instruction instruction;
  uint32_t d, a, scale;
  uint64_t of_a, of_b;
  uint32_t states[2], shifts[2], masks[8];
};

// What a lane has: columns of a row.
struct Strip {
  uint32_t row, first, end;
};

// PTX ISA, "Data path layout" A to G. A row is in one lane, a half of it in each of two lanes, or a
// quarter in each of four; the sixteenth lanes of 64 undivided rows are every 32 lanes.
__device__ Strip strip_of(const Instruction &instruction, uint32_t base, uint32_t lane) {
  const uint32_t rows = instruction.rows(), columns = instruction.columns();
  const bool is_divided = instruction.flags & (of_two_blocks | keeps_weights);
  if (rows == 64 && !is_divided) {
    const uint32_t inside = lane % 32 - base;
    return {lane / 32 * 16 + inside, 0, inside < 16 ? columns : 0};
  }
  const uint32_t width = columns * rows / lanes, part = lane / rows;
  return {lane % rows, part * width, (part + 1) * width};
}

__device__ bool is_known(const Instruction &instruction, uint32_t base) {
  const uint32_t rows = instruction.rows();
  if (instruction.is_sparse() || instruction.field(30, 2) != 0) return false;
  const bool has_half_parts = rows == 64 && !(instruction.flags & (of_two_blocks | keeps_weights));
  if (base != 0 && !(has_half_parts && base == 16)) return false;
  if (instruction.flags & a_in_memory && instruction.flags & keeps_weights && rows != lanes) {
    return false;
  }
  return rows == 128 || rows == 64 || (rows == 32 && instruction.flags & keeps_weights);
}

// Of which block and line B has a column.
__device__ uint32_t block_of(const Instruction &instruction, uint32_t &column) {
  const uint32_t width = instruction.columns() / instruction.blocks(), block = column / width;
  column -= block * width;
  return block;
}

template <typename Numbers>
__device__ void multiply_strip(const Product &given, uint32_t block, uint32_t lane, Word *memory) {
  const Instruction &instruction = given.instruction;
  const Strip strip = strip_of(instruction, given.d >> 16, lane);
  if (given.masks[4 * block + lane / 32] >> lane % 32 & 1 || strip.first == strip.end) return;
  uint32_t words[line_words];
  if (instruction.flags & a_in_memory) {
    for (uint32_t n = 0; n < line_words; ++n) words[n] = memory[word_number(lane, given.a + n)];
  } else {
    const Matrix a(given.of_a, instruction.transposes_a(), given.shifts[block], true);
    a.read<Numbers::bytes>(strip.row, words);
  }
  typename Numbers::Line row;
  Numbers::prepare(words, instruction.format_of_a(), row);
  if (instruction.is_negated()) Numbers::negate(row);
  const bool is_transposed = instruction.transposes_b();
  const Matrix b[2] = {Matrix(given.of_b, is_transposed, given.shifts[0], true),
                       Matrix(given.of_b, is_transposed, given.shifts[1], true)};
  for (uint32_t n = strip.first; n < strip.end; ++n) {
    uint32_t line = n;
    const uint32_t of = block_of(instruction, line);
    b[of].template read<Numbers::bytes>(line, words);
    typename Numbers::Line column;
    Numbers::prepare(words, instruction.format_of_b(), column);
    Word *const sum = memory + word_number(lane, given.d + n - strip.first);
    *sum =
        Numbers::sum(instruction, row, column, instruction.flags & keeps ? *sum : 0, given.scale);
  }
}

template <typename Numbers>
__device__ void multiply_all(const Product &given) {
  const Instruction &instruction = given.instruction;
  const bool is_all_known = is_known(instruction, given.d >> 16) &&
                            Numbers::are_known(instruction) &&
                            Numbers::has_sums(instruction.format_of_sums());
  if (!is_all_known) __builtin_trap();
  for (uint32_t block = 0; block < instruction.blocks(); ++block) {
    Word *const memory = memory_of(given.states[block]);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      multiply_strip<Numbers>(given, block, lane, memory);
    }
  }
}

enum SumFormat : uint32_t { sums_of_halves, sums_of_singles, sums_of_integers };

// Floating-point numbers, so many in a line; each product is exact, and added with one rounding.
template <uint32_t COUNT>
struct Floats {
  struct Line {
    float numbers[COUNT];
  };

  static __device__ bool has_sums(uint32_t format) { return format <= sums_of_singles; }

  static __device__ void negate(Line &line) {
    for (uint32_t n = 0; n < COUNT; ++n) line.numbers[n] = -line.numbers[n];
  }

  static __device__ uint32_t sum(const Instruction &instruction, const Line &a, const Line &b,
                                 uint32_t old, uint32_t scale) {
    const bool is_half = instruction.format_of_sums() == sums_of_halves;
    float total = is_half ? half(old) : single(old);
    if (scale != 0) total = __builtin_ldexpf(total, -(int32_t)scale);
    for (uint32_t k = 0; k < COUNT; ++k) total = __builtin_fmaf(a.numbers[k], b.numbers[k], total);
    if (is_half) return __builtin_bit_cast(uint16_t, (_Float16)total);
    return __builtin_bit_cast(uint32_t, total);
  }
};

enum HalfFormat : uint32_t { of_f16, of_bf16, of_tf32 };

struct Halves : Floats<16> {
  static constexpr uint32_t bytes = 2;

  static __device__ bool are_known(const Instruction &instruction) {
    const uint32_t a = instruction.format_of_a(), sums = instruction.format_of_sums();
    return a == instruction.format_of_b() && a <= of_bf16 &&
           (sums == sums_of_singles || (sums == sums_of_halves && a == of_f16));
  }
  static __device__ void prepare(const uint32_t (&words)[line_words], uint32_t format, Line &line) {
    for (uint32_t n = 0; n < 16; ++n) {
      const uint32_t code = words[n / 2] >> n % 2 * 16 & 0xffff;
      line.numbers[n] = format == of_bf16 ? single(code << 16) : half(code);
    }
  }
};

struct Tf32 : Floats<8> {
  static constexpr uint32_t bytes = 4;

  static __device__ bool are_known(const Instruction &instruction) {
    return instruction.format_of_a() == of_tf32 && instruction.format_of_b() == of_tf32 &&
           instruction.format_of_sums() == sums_of_singles;
  }
  static __device__ void prepare(const uint32_t (&words)[line_words], uint32_t, Line &line) {
    for (uint32_t n = 0; n < 8; ++n) line.numbers[n] = single(words[n] & 0xffffe000);
  }
};

enum SmallFormat : uint32_t { of_e4m3, of_e5m2, of_e2m3 = 3, of_e3m2, of_e2m1 };

// Bits above the fraction in half precision, and what its exponent is too small by.
__device__ float small_number(uint32_t code, uint32_t width, uint32_t fraction, float scale) {
  const uint32_t sign = code >> (width - 1) & 1;
  const uint32_t magnitude = code & ((1u << (width - 1)) - 1);
  return half(sign << 15 | magnitude << (10 - fraction)) * scale;
}

// Numbers of 8 bits; those of 6 and 4 bits are packed in the first 12 and 8 bytes of each 16.
struct SmallFloats : Floats<32> {
  static constexpr uint32_t bytes = 1;

  static __device__ bool is_format(uint32_t format) { return format <= of_e2m1 && format != 2; }

  static __device__ bool are_known(const Instruction &instruction) {
    const uint32_t a = instruction.format_of_a(), b = instruction.format_of_b();
    // Of narrow numbers only what shared memory has, undivided, is known.
    const bool narrow_a = a > of_e5m2, narrow_b = b > of_e5m2;
    if (narrow_a && (instruction.flags & a_in_memory || instruction.transposes_a())) return false;
    if (narrow_b && instruction.transposes_b()) return false;
    return is_format(a) && is_format(b);
  }
  static __device__ void prepare(const uint32_t (&words)[line_words], uint32_t format, Line &line) {
    for (uint32_t n = 0; n < 32; ++n) line.numbers[n] = number(words, format, n);
  }
  static __device__ float number(const uint32_t (&words)[line_words], uint32_t format, uint32_t n) {
    const uint32_t byte = words[n / 4] >> n % 4 * 8 & 0xff;
    const uint32_t first = n / 16 * 4;
    const uint32_t place = n % 16 * 6, word = first + place / 32;
    const uint32_t six = (uint32_t)(pair(words[word], words[word + 1 & 7]) >> place % 32) & 0x3f;
    const uint32_t four = words[first + n % 16 / 8] >> n % 8 * 4 & 0xf;
    return decode(format <= of_e5m2 ? byte : format == of_e2m1 ? four : six, format);
  }
  static __device__ float decode(uint32_t code, uint32_t format) {
    switch (format) {
      case of_e4m3:
        return (code & 0x7f) == 0x7f ? single(nan_bits) : small_number(code, 8, 3, 0x1p8f);
      case of_e5m2: return small_number(code, 8, 2, 1);
      case of_e2m3: return small_number(code, 6, 3, 0x1p14f);
      case of_e3m2: return small_number(code, 6, 2, 0x1p12f);
      default: return small_number(code, 4, 1, 0x1p14f);
    }
  }
};

struct SmallIntegers {
  static constexpr uint32_t bytes = 1;
  struct Line {
    int16_t numbers[32];
  };

  static __device__ bool are_known(const Instruction &instruction) {
    return instruction.format_of_a() <= 1 && instruction.format_of_b() <= 1 &&
           !instruction.field(13, 2);
  }
  static __device__ bool has_sums(uint32_t format) { return format == sums_of_integers; }
  static __device__ void negate(Line &) {}
  static __device__ void prepare(const uint32_t (&words)[line_words], uint32_t is_signed,
                                 Line &line) {
    for (uint32_t n = 0; n < 32; ++n) {
      const uint32_t byte = words[n / 4] >> n % 4 * 8 & 0xff;
      line.numbers[n] = is_signed ? (int8_t)byte : (int16_t)byte;
    }
  }
  static __device__ uint32_t sum(const Instruction &instruction, const Line &a, const Line &b,
                                 uint32_t old, uint32_t) {
    int32_t found = 0;
    for (uint32_t k = 0; k < 32; ++k) found += a.numbers[k] * b.numbers[k];
    if (!instruction.saturates()) return old + (uint32_t)found;
    return (uint32_t)__builtin_elementwise_add_sat((int32_t)old, found);
  }
};

template <typename Numbers>
__attribute__((noinline)) __device__ void multiply_with_denormals(const Product &given) {
  multiply_all<Numbers>(given);
}

constexpr int denormals = 1 | 4 << 6 | 3 << 11;  // MODE, four bits from bit 4 on

// Tensor cores flush no denormal numbers, whatever the kernel does elsewhere.
__device__ uint32_t keep_denormals() {
  const uint32_t before = __builtin_amdgcn_s_getreg(denormals);
  __builtin_amdgcn_s_setreg(denormals, 0xf);
  return before;
}

__device__ void restore_denormals(uint32_t before) { __builtin_amdgcn_s_setreg(denormals, before); }

template <typename Numbers>
__device__ void multiply(const Product &given) {
  const uint32_t before = keep_denormals();
  multiply_with_denormals<Numbers>(given);
  restore_denormals(before);
}

}  // namespace tensor
}  // namespace

// One function for each opcode. `of_a` and `of_b` are descriptors of matrices in shared memory, to
// which `shift0` and `shift1` are added in the first and in the second block; `mask0` on are the
// lanes whose sums stay as they are.
#define CASS_TENSOR(NAME, CALL)                                                                    \
  extern "C" __device__ __attribute__((noinline)) void __cass_tensor_multiply_##NAME(              \
      uint32_t instruction, uint32_t flags, uint32_t d, uint32_t a, uint32_t scale, uint64_t of_a, \
      uint64_t of_b, uint32_t state0, uint32_t state1, uint32_t shift0, uint32_t shift1,           \
      uint32_t mask0, uint32_t mask1, uint32_t mask2, uint32_t mask3, uint32_t mask4,              \
      uint32_t mask5, uint32_t mask6, uint32_t mask7) {                                            \
    const tensor::Product given = {{instruction, flags},                                           \
                                   d,                                                              \
                                   a,                                                              \
                                   scale,                                                          \
                                   of_a,                                                           \
                                   of_b,                                                           \
                                   {state0, state1},                                               \
                                   {shift0, shift1},                                               \
                                   {mask0, mask1, mask2, mask3, mask4, mask5, mask6, mask7}};      \
    CALL;                                                                                          \
  }
CASS_TENSOR(halves, given.instruction.format_of_a() == tensor::of_tf32
                        ? tensor::multiply<tensor::Tf32>(given)
                        : tensor::multiply<tensor::Halves>(given))
CASS_TENSOR(bytes, tensor::multiply<tensor::SmallFloats>(given))
CASS_TENSOR(integers, tensor::multiply<tensor::SmallIntegers>(given))
#undef CASS_TENSOR
