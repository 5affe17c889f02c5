// Products of matrices of which blocks of each row have a scale (PTX: tcgen05.mma with
// block_scale).
//
// Scales are in tensor memory, a byte each: those of row r in lane r % 32 of each quarter and in
// column r / 32 of their part; the descriptor says at which byte they begin.

namespace {
namespace tensor {

struct Scaled {
  Instruction instruction;
  uint32_t d, a, scales_a, scales_b;
  uint64_t of_a, of_b;
  uint32_t state, shift;
};

// A scale: a power of two in eight bits, or E4M3 without a sign.
struct Scale {
  float factor;
  int32_t exponent;
};

__device__ Scale scale_of(const Word *memory, uint32_t address, uint32_t row, uint32_t byte,
                          bool is_exponent) {
  const uint32_t column = (address & 0xffff) + row / 32;
  const uint32_t code = memory[word_number(row % 32, column)] >> byte % 4 * 8 & 0xff;
  if (is_exponent) return {code == 0xff ? single(nan_bits) : 1, (int32_t)code - 127};
  return {SmallFloats::decode(code, of_e4m3), 0};
}

// Packed numbers of four bits.
struct SmallFours : Floats<64> {
  static constexpr uint32_t bytes = 1;

  static __device__ bool are_known(const Instruction &instruction) {
    return instruction.format_of_a() == 1 && instruction.format_of_b() == 1 &&
           !(instruction.flags & a_in_memory) && !instruction.transposes_a() &&
           !instruction.transposes_b();
  }
  static __device__ void prepare(const uint32_t (&words)[line_words], uint32_t, Line &line) {
    for (uint32_t n = 0; n < 64; ++n) {
      line.numbers[n] = SmallFloats::decode(words[n / 8] >> n % 8 * 4 & 0xf, of_e2m1);
    }
  }
};

// The sum with one lane's row, in which each of `SCALES` blocks has its scale.
template <typename Numbers, uint32_t SCALES>
__device__ void multiply_scaled_lane(const Scaled &given, uint32_t lane, Word *memory) {
  constexpr uint32_t count = sizeof(typename Numbers::Line) / sizeof(float), width = count / SCALES;
  const Instruction &instruction = given.instruction;
  const bool is_exponent = instruction.field(23, 1);
  const auto read_scales = [&](uint32_t address, uint32_t row, uint32_t first,
                               Scale(&scales)[SCALES]) {
    for (uint32_t n = 0; n < SCALES; ++n) {
      scales[n] = scale_of(memory, address, row, first + n, is_exponent);
    }
  };
  uint32_t words[line_words];
  if (instruction.flags & a_in_memory) {
    for (uint32_t n = 0; n < line_words; ++n) words[n] = memory[word_number(lane, given.a + n)];
  } else {
    Matrix(given.of_a, instruction.transposes_a(), given.shift, true)
        .read<Numbers::bytes>(lane, words);
  }
  typename Numbers::Line row, column;
  Numbers::prepare(words, instruction.format_of_a(), row);
  if (instruction.is_negated()) Numbers::negate(row);
  Scale of_row[SCALES], of_column[SCALES];
  read_scales(given.scales_a, lane, instruction.field(29, 2), of_row);
  const Matrix b(given.of_b, instruction.transposes_b(), given.shift, true);
  for (uint32_t n = 0; n < instruction.columns(); ++n) {
    b.read<Numbers::bytes>(n, words);
    Numbers::prepare(words, instruction.format_of_b(), column);
    read_scales(given.scales_b, n, instruction.field(4, 2), of_column);
    Word *const sum = memory + word_number(lane, given.d + n);
    float total = instruction.flags & keeps ? single(*sum) : 0;
    for (uint32_t block = 0; block < SCALES; ++block) {
      float part = 0;
      for (uint32_t k = block * width; k < (block + 1) * width; ++k) {
        part = __builtin_fmaf(row.numbers[k], column.numbers[k], part);
      }
      // The factors first: their product is exact, and so is that with a power of two.
      part *= of_row[block].factor * of_column[block].factor;
      total += __builtin_ldexpf(part, of_row[block].exponent + of_column[block].exponent);
    }
    *sum = __builtin_bit_cast(uint32_t, total);
  }
}

template <typename Numbers, uint32_t SCALES>
__attribute__((noinline)) __device__ void multiply_scaled_with_denormals(const Scaled &given) {
  const Instruction &instruction = given.instruction;
  const bool is_known = instruction.rows() == lanes && !instruction.is_sparse() &&
                        !instruction.field(31, 1) && given.d >> 16 == 0;
  if (!is_known || !Numbers::are_known(instruction)) __builtin_trap();
  Word *const memory = memory_of(given.state);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    multiply_scaled_lane<Numbers, SCALES>(given, lane, memory);
  }
}

template <typename Numbers, uint32_t SCALES>
__device__ void multiply_scaled(const Scaled &given) {
  const uint32_t before = keep_denormals();
  multiply_scaled_with_denormals<Numbers, SCALES>(given);
  restore_denormals(before);
}

}  // namespace tensor
}  // namespace

// One function for each kind of numbers and scales of a row. `scales_a` and `scales_b` are places
// in tensor memory, whose two upper bits do not matter.
#define CASS_TENSOR_SCALED(NAME, ...)                                                        \
  extern "C" __device__ __attribute__((noinline)) void __cass_tensor_multiply_scaled_##NAME( \
      uint32_t instruction, uint32_t flags, uint32_t d, uint32_t a, uint32_t scales_a,       \
      uint32_t scales_b, uint64_t of_a, uint64_t of_b, uint32_t state, uint32_t shift) {     \
    tensor::multiply_scaled<__VA_ARGS__>(                                                    \
        {{instruction, flags}, d, a, scales_a, scales_b, of_a, of_b, state, shift});         \
  }
CASS_TENSOR_SCALED(bytes, tensor::SmallFloats, 1)
CASS_TENSOR_SCALED(fours, tensor::SmallFours, 2)
CASS_TENSOR_SCALED(fours_by_sixteen, tensor::SmallFours, 4)
#undef CASS_TENSOR_SCALED
