// What every family of handlers is written with. Compiled once per SIMD level: everything here is
// in a namespace of the level and has internal linkage, so that no function compiled for a newer
// CPU can stand in for one of another level. For the same reason handlers use no standard
// containers.
#pragma once

#include <cstdint>
#include <cstring>

#include "../handlers.hpp"
#include "../wave.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifndef CASS_EMULATOR_LEVEL
#error "compile handlers with -DCASS_EMULATOR_LEVEL=portable, avx2 or avx512"
#endif

#define CASS_EMULATOR_TEXT(x) #x
#define CASS_EMULATOR_SECTION(level) CASS_EMULATOR_TEXT(cass_emulator_##level)
#define CASS_EMULATOR_SECTION_OF(level) CASS_EMULATOR_SECTION(level)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

// One value a lane.
using U32 = std::uint32_t __attribute__((ext_vector_type(32)));
using I32 = std::int32_t __attribute__((ext_vector_type(32)));
using F32 = float __attribute__((ext_vector_type(32)));
using U64 = std::uint64_t __attribute__((ext_vector_type(32)));
using I64 = std::int64_t __attribute__((ext_vector_type(32)));
using F64 = double __attribute__((ext_vector_type(32)));
using U16 = std::uint16_t __attribute__((ext_vector_type(32)));
using I16 = std::int16_t __attribute__((ext_vector_type(32)));
using F16 = _Float16 __attribute__((ext_vector_type(32)));

template <class To, class From>
ALWAYS_INLINE To bits_as(From value) {
  return __builtin_bit_cast(To, value);
}

template <class To, class From>
ALWAYS_INLINE To convert(From value) {
  return __builtin_convertvector(value, To);
}

constexpr U32 lane_numbers = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                              16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

// All bits of a lane set where its bit of `mask` is.
ALWAYS_INLINE I32 lanes_of(std::uint32_t mask) {
  return ((U32)mask & ((U32)1U << lane_numbers)) != 0U;
}

// A bit for every lane whose value is negative (all ones: a comparison's result).
ALWAYS_INLINE std::uint32_t mask_of(I32 lanes) {
#if defined(__AVX512F__)
  struct Parts {
    __m512i part[2];
  };
  const auto parts = bits_as<Parts>(lanes);
  return static_cast<std::uint32_t>(_mm512_movepi32_mask(parts.part[0])) |
         static_cast<std::uint32_t>(_mm512_movepi32_mask(parts.part[1])) << 16;
#elif defined(__AVX2__)
  struct Parts {
    __m256 part[4];
  };
  const auto parts = bits_as<Parts>(lanes);
  std::uint32_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    mask |= static_cast<std::uint32_t>(_mm256_movemask_ps(parts.part[i])) << (8 * i);
  }
  return mask;
#else
  std::uint32_t mask = 0;
  for (int i = 0; i < 32; ++i) mask |= static_cast<std::uint32_t>(lanes[i] < 0) << i;
  return mask;
#endif
}
ALWAYS_INLINE std::uint32_t mask_of(I64 lanes) { return mask_of(convert<I32>(lanes)); }
ALWAYS_INLINE std::uint32_t mask_of(I16 lanes) { return mask_of(convert<I32>(lanes)); }

template <class T>
ALWAYS_INLINE T select(I32 lanes, T yes, T no) {
  return lanes ? yes : no;
}

ALWAYS_INLINE U32 bit_count(U32 value) {
  value -= value >> 1 & 0x5555'5555U;
  value = (value & 0x3333'3333U) + (value >> 2 & 0x3333'3333U);
  value = (value + (value >> 4)) & 0x0F0F'0F0FU;
  return value * 0x0101'0101U >> 24;
}

// 32 for zero.
ALWAYS_INLINE U32 leading_zeros(U32 value) {
#if defined(__AVX512CD__)
  struct Parts {
    __m512i part[2];
  };
  auto parts = bits_as<Parts>(value);
  for (auto& part : parts.part) part = _mm512_lzcnt_epi32(part);
  return bits_as<U32>(parts);
#else
  value |= value >> 1;
  value |= value >> 2;
  value |= value >> 4;
  value |= value >> 8;
  value |= value >> 16;
  return 32U - bit_count(value);
#endif
}

template <class T>
ALWAYS_INLINE T& place(Wave& wave, std::uint32_t offset) {
  return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(&wave) + offset);
}

ALWAYS_INLINE std::uint32_t exec_of(const Wave& wave, const Instruction& instruction) {
  return wave.scalar[scalar::exec + instruction.half];
}

// ---- scalar operands

ALWAYS_INLINE std::uint32_t scalar_u32(Wave& wave, const Operand& operand) {
  return operand.kind == OperandKind::scalar ? place<std::uint32_t>(wave, operand.value)
                                             : operand.value;
}

ALWAYS_INLINE std::uint64_t constant_u64(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::constant_sign:
      return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(operand.value)});
    case OperandKind::constant_high: return std::uint64_t{operand.value} << 32;
    case OperandKind::constant_inverse_2pi: return 0x3FC45F306DC9C882;
    default: return operand.value;
  }
}

ALWAYS_INLINE std::uint64_t scalar_u64(Wave& wave, const Operand& operand) {
  if (operand.kind != OperandKind::scalar) return constant_u64(operand);
  std::uint64_t value;
  std::memcpy(&value, &place<std::uint32_t>(wave, operand.value), sizeof value);
  return value;
}

ALWAYS_INLINE void write_scalar(Wave& wave, const Operand& operand, std::uint32_t value) {
  place<std::uint32_t>(wave, operand.value) = value;
}

ALWAYS_INLINE void write_scalar64(Wave& wave, const Operand& operand, std::uint64_t value) {
  std::memcpy(&place<std::uint32_t>(wave, operand.value), &value, sizeof value);
}

// A lane mask as source (one half of it in 64-lane waves; decoding chose the register).
ALWAYS_INLINE std::uint32_t mask_operand(Wave& wave, const Operand& operand) {
  return scalar_u32(wave, operand);
}

// ---- vector operands: bits

ALWAYS_INLINE U32 read_u32(Wave& wave, const Operand& operand) {
  if (operand.kind == OperandKind::vector) return place<U32>(wave, operand.value);
  return (U32)scalar_u32(wave, operand);
}

ALWAYS_INLINE U64 join(U32 low, U32 high) { return convert<U64>(low) | (convert<U64>(high) << 32); }

ALWAYS_INLINE U64 read_u64(Wave& wave, const Operand& operand) {
  if (operand.kind == OperandKind::vector) {
    return join(place<U32>(wave, operand.value), place<U32>(wave, operand.value + wave.row_stride));
  }
  return (U64)scalar_u64(wave, operand);
}

// 16 bits of a lane; the high half where op_sel says so.
ALWAYS_INLINE U16 read_u16(Wave& wave, const Operand& operand) {
  U32 value = read_u32(wave, operand);
  if ((operand.modifiers & modifier::high) != 0) value >>= 16;
  return convert<U16>(value);
}

// ---- vector operands by type, with the modifiers of floating-point operands

template <class T>
ALWAYS_INLINE T source(Wave& wave, const Instruction& instruction, int number);

template <>
inline __attribute__((always_inline)) U32 source<U32>(Wave& w, const Instruction& i, int n) {
  return read_u32(w, i.source[n]);
}
template <>
inline __attribute__((always_inline)) I32 source<I32>(Wave& w, const Instruction& i, int n) {
  return bits_as<I32>(read_u32(w, i.source[n]));
}
template <>
inline __attribute__((always_inline)) F32 source<F32>(Wave& w, const Instruction& i, int n) {
  U32 value = read_u32(w, i.source[n]);
  const std::uint8_t modifiers = i.source[n].modifiers;
  if (__builtin_expect(modifiers != 0, 0)) {
    if ((modifiers & modifier::absolute) != 0) value &= 0x7FFF'FFFFU;
    if ((modifiers & modifier::negate) != 0) value ^= 0x8000'0000U;
  }
  return bits_as<F32>(value);
}
template <>
inline __attribute__((always_inline)) U64 source<U64>(Wave& w, const Instruction& i, int n) {
  return read_u64(w, i.source[n]);
}
template <>
inline __attribute__((always_inline)) I64 source<I64>(Wave& w, const Instruction& i, int n) {
  return bits_as<I64>(read_u64(w, i.source[n]));
}
template <>
inline __attribute__((always_inline)) F64 source<F64>(Wave& w, const Instruction& i, int n) {
  U64 value = read_u64(w, i.source[n]);
  const std::uint8_t modifiers = i.source[n].modifiers;
  if (__builtin_expect(modifiers != 0, 0)) {
    if ((modifiers & modifier::absolute) != 0) value &= ~(std::uint64_t{1} << 63);
    if ((modifiers & modifier::negate) != 0) value ^= std::uint64_t{1} << 63;
  }
  return bits_as<F64>(value);
}
template <>
inline __attribute__((always_inline)) U16 source<U16>(Wave& w, const Instruction& i, int n) {
  return read_u16(w, i.source[n]);
}
template <>
inline __attribute__((always_inline)) I16 source<I16>(Wave& w, const Instruction& i, int n) {
  return bits_as<I16>(read_u16(w, i.source[n]));
}
template <>
inline __attribute__((always_inline)) F16 source<F16>(Wave& w, const Instruction& i, int n) {
  U16 value = read_u16(w, i.source[n]);
  const std::uint8_t modifiers = i.source[n].modifiers;
  if ((modifiers & modifier::absolute) != 0) value &= (std::uint16_t)0x7FFF;
  if ((modifiers & modifier::negate) != 0) value ^= (std::uint16_t)0x8000;
  return bits_as<F16>(value);
}

// ---- destinations: only lanes of EXEC

ALWAYS_INLINE void write_row(Wave& wave, std::uint32_t exec, std::uint32_t offset, U32 value) {
  U32& row = place<U32>(wave, offset);
  if (__builtin_expect(exec == ~0U, 1)) {
    row = value;
  } else {
    row = select(lanes_of(exec), value, row);
  }
}

ALWAYS_INLINE void write_bits(Wave& w, const Instruction& i, U32 value) {
  write_row(w, exec_of(w, i), i.destination.value, value);
}

ALWAYS_INLINE void write_bits(Wave& w, const Instruction& i, U64 value) {
  const std::uint32_t exec = exec_of(w, i);
  write_row(w, exec, i.destination.value, convert<U32>(value));
  write_row(w, exec, i.destination.value + w.row_stride, convert<U32>(value >> 32));
}

// The other half of the register stays, or becomes zero (gfx9).
ALWAYS_INLINE void write_bits(Wave& w, const Instruction& i, U16 value) {
  const U32 old = place<U32>(w, i.destination.value);
  const U32 wide = convert<U32>(value);
  const bool high = (i.destination.modifiers & modifier::high) != 0;
  const std::uint32_t kept =
      (i.destination.modifiers & modifier::clears_high) != 0 ? 0U : 0xFFFF'0000U;
  write_bits(w, i, high ? (old & 0xFFFFU) | (wide << 16) : (old & kept) | wide);
}

// The smallest number that is not denormal, and the bit of MODE that keeps denormal results.
template <class Float>
struct OutputLimits;
template <>
struct OutputLimits<F16> {
  static constexpr _Float16 smallest = (_Float16)0x1p-14F;
  static constexpr std::uint32_t keeps_denormals = 1U << 7;
};
template <>
struct OutputLimits<F32> {
  static constexpr float smallest = 0x1p-126F;
  static constexpr std::uint32_t keeps_denormals = 1U << 5;
};
template <>
struct OutputLimits<F64> {
  static constexpr double smallest = 0x1p-1022;
  static constexpr std::uint32_t keeps_denormals = 1U << 7;
};

// Scaling (OMOD) counts only where IEEE mode is off and denormal results are flushed; it gives
// neither denormals nor -0 (RDNA3 ISA, 7.2, "Output Modifiers").
template <class Float>
ALWAYS_INLINE Float scaled_output(const Wave& w, const Instruction& i, Float value) {
  using Limits = OutputLimits<Float>;
  if ((w.mode & (mode::ieee | Limits::keeps_denormals)) != 0) return value;
  if (i.output_scale == 1) value *= 2;
  if (i.output_scale == 2) value *= 4;
  if (i.output_scale == 3) value /= 2;
  const auto flushed = (value < (Float)Limits::smallest) & (value > (Float)-Limits::smallest);
  return flushed ? (Float)0 : value;
}

// Output modifiers (RDNA3 ISA, 7.3.2): scale, then clamp to 0..1.
template <class Float, class Lanes>
ALWAYS_INLINE Float output_modifiers(const Wave& w, const Instruction& i, Float value) {
  if (i.output_scale != 0) value = scaled_output(w, i, value);
  if ((i.flags & flag::clamp) != 0) {
    const Lanes nan = value != value;
    Float clamped = value > 0 ? value : (Float)0;
    clamped = clamped < 1 ? clamped : (Float)1;
    value = (w.mode & mode::dx10_clamp) != 0 ? clamped : (nan ? value : clamped);
  }
  return value;
}

ALWAYS_INLINE void write(Wave& w, const Instruction& i, U32 value) { write_bits(w, i, value); }
ALWAYS_INLINE void write(Wave& w, const Instruction& i, I32 value) {
  write_bits(w, i, bits_as<U32>(value));
}
ALWAYS_INLINE void write(Wave& w, const Instruction& i, F32 value) {
  if (__builtin_expect((i.output_scale | (i.flags & flag::clamp)) != 0, 0)) {
    value = output_modifiers<F32, I32>(w, i, value);
  }
  write_bits(w, i, bits_as<U32>(value));
}
ALWAYS_INLINE void write(Wave& w, const Instruction& i, U64 value) { write_bits(w, i, value); }
ALWAYS_INLINE void write(Wave& w, const Instruction& i, I64 value) {
  write_bits(w, i, bits_as<U64>(value));
}
ALWAYS_INLINE void write(Wave& w, const Instruction& i, F64 value) {
  if (__builtin_expect((i.output_scale | (i.flags & flag::clamp)) != 0, 0)) {
    value = output_modifiers<F64, I64>(w, i, value);
  }
  write_bits(w, i, bits_as<U64>(value));
}
ALWAYS_INLINE void write(Wave& w, const Instruction& i, U16 value) { write_bits(w, i, value); }
ALWAYS_INLINE void write(Wave& w, const Instruction& i, I16 value) {
  write_bits(w, i, bits_as<U16>(value));
}
ALWAYS_INLINE void write(Wave& w, const Instruction& i, F16 value) {
  if (__builtin_expect((i.output_scale | (i.flags & flag::clamp)) != 0, 0)) {
    value = output_modifiers<F16, I16>(w, i, value);
  }
  write_bits(w, i, bits_as<U16>(value));
}

// A mask result: bits of lanes outside EXEC are zero.
ALWAYS_INLINE void write_mask(Wave& w, const Instruction& i, std::uint32_t mask) {
  place<std::uint32_t>(w, i.destination.value) = mask & exec_of(w, i);
}
// The carry of VOP3SD.
ALWAYS_INLINE void write_carry(Wave& w, const Instruction& i, std::uint32_t mask) {
  place<std::uint32_t>(w, i.source[3].value) = mask & exec_of(w, i);
}

// Ends the wave's turn with a fault; the caller returns without going on.
ALWAYS_INLINE void stop(Wave& wave, const Instruction* instruction, WaveFault fault) {
  wave.current = instruction;
  wave.fault = fault;
  wave.state = WaveState::faulted;
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL

// Goes on to an instruction: the last statement of every handler.
#define CONTINUE_AT(wave, instruction) \
  __attribute__((musttail)) return (instruction)->handler(wave, instruction)

#define REGISTER_HANDLER(opcode_name, function)                                            \
  __attribute__((section(CASS_EMULATOR_SECTION_OF(CASS_EMULATOR_LEVEL)),                   \
                 used)) static HandlerEntry entry_of_##opcode_name = {Opcode::opcode_name, \
                                                                      function};

// Defines and registers the handler of an opcode that goes on to the next instruction:
//   OPERATION(v_add_nc_u32) { write(w, i, source<U32>(w, i, 0) + source<U32>(w, i, 1)); }
#define OPERATION(opcode_name)                                             \
  ALWAYS_INLINE void execute_##opcode_name(Wave& w, const Instruction& i); \
  static void handle_##opcode_name(Wave& w, const Instruction* i) {        \
    execute_##opcode_name(w, *i);                                          \
    CONTINUE_AT(w, i + 1);                                                 \
  }                                                                        \
  REGISTER_HANDLER(opcode_name, handle_##opcode_name)                      \
  ALWAYS_INLINE void execute_##opcode_name([[maybe_unused]] Wave& w,       \
                                           [[maybe_unused]] const Instruction& i)

// Defines and registers a handler that says itself how to go on: CONTINUE_AT, or return to the
// scheduler with Wave::state and Wave::next set.
#define CONTROL(opcode_name)                                       \
  static void handle_##opcode_name(Wave& w, const Instruction* i); \
  REGISTER_HANDLER(opcode_name, handle_##opcode_name)              \
  static void handle_##opcode_name([[maybe_unused]] Wave& w, [[maybe_unused]] const Instruction* i)

// An operation on instruction `ip` that may fault: the body returns false after stop().
#define FALLIBLE(opcode_name)                                               \
  ALWAYS_INLINE bool execute_##opcode_name(Wave& w, const Instruction* ip); \
  static void handle_##opcode_name(Wave& w, const Instruction* i) {         \
    if (__builtin_expect(!execute_##opcode_name(w, i), 0)) return;          \
    CONTINUE_AT(w, i + 1);                                                  \
  }                                                                         \
  REGISTER_HANDLER(opcode_name, handle_##opcode_name)                       \
  ALWAYS_INLINE bool execute_##opcode_name(Wave& w, const Instruction* ip)

// One, two or three sources of type T, result of the expression's type R; the sources are a, b, c.
#define UNARY(opcode_name, T, R, expression) \
  OPERATION(opcode_name) {                   \
    const T a = source<T>(w, i, 0);          \
    write(w, i, (R)(expression));            \
  }
#define BINARY(opcode_name, T, R, expression) \
  OPERATION(opcode_name) {                    \
    const T a = source<T>(w, i, 0);           \
    const T b = source<T>(w, i, 1);           \
    write(w, i, (R)(expression));             \
  }
#define TERNARY(opcode_name, T, R, expression) \
  OPERATION(opcode_name) {                     \
    const T a = source<T>(w, i, 0);            \
    const T b = source<T>(w, i, 1);            \
    const T c = source<T>(w, i, 2);            \
    write(w, i, (R)(expression));              \
  }
