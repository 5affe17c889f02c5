// Integer and bit instructions on vectors (RDNA3 ISA, 16.7 VOP2, 16.8 VOP1, 16.10 VOP3).
#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Sums and differences saturate where the instruction asks for it (CLAMP).
ALWAYS_INLINE bool clamps(const Instruction& i) { return (i.flags & flag::clamp) != 0; }
ALWAYS_INLINE U32 add_unsigned(const Instruction& i, U32 a, U32 b) {
  const U32 sum = a + b;
  return clamps(i) ? select(sum < a, (U32)~0U, sum) : sum;
}
ALWAYS_INLINE U32 subtract_unsigned(const Instruction& i, U32 a, U32 b) {
  const U32 difference = a - b;
  return clamps(i) ? select(a < b, (U32)0U, difference) : difference;
}
ALWAYS_INLINE U32 limit_of_sign(U32 a) { return (a >> 31) + 0x7FFF'FFFFU; }
ALWAYS_INLINE U32 add_signed(const Instruction& i, U32 a, U32 b) {
  const U32 sum = a + b;
  const I32 overflow = bits_as<I32>(~(a ^ b) & (a ^ sum)) < 0;
  return clamps(i) ? select(overflow, limit_of_sign(a), sum) : sum;
}
ALWAYS_INLINE U32 subtract_signed(const Instruction& i, U32 a, U32 b) {
  const U32 difference = a - b;
  const I32 overflow = bits_as<I32>((a ^ b) & (a ^ difference)) < 0;
  return clamps(i) ? select(overflow, limit_of_sign(a), difference) : difference;
}

BINARY(v_add_nc_u32, U32, U32, add_unsigned(i, a, b))
BINARY(v_sub_nc_u32, U32, U32, subtract_unsigned(i, a, b))
BINARY(v_subrev_nc_u32, U32, U32, subtract_unsigned(i, b, a))
BINARY(v_add_nc_i32, U32, U32, add_signed(i, a, b))
BINARY(v_sub_nc_i32, U32, U32, subtract_signed(i, a, b))

// ---- carries

OPERATION(v_add_co_u32) {
  const U32 a = source<U32>(w, i, 0), b = source<U32>(w, i, 1), sum = a + b;
  write(w, i, add_unsigned(i, a, b));
  write_carry(w, i, mask_of(sum < a));
}
// Both halves of a 64-bit sum: this instruction and the next one, v_add_co_ci_u32, which takes its
// carry. Neither saturates.
CONTROL(engine_add_64) {
  const Instruction &low = i[0], &high = i[1];
  const U32 a = source<U32>(w, low, 0), b = source<U32>(w, low, 1), sum = a + b;
  const I32 carry = sum < a;
  write(w, low, sum);
  write_carry(w, low, mask_of(carry));
  const U32 c = source<U32>(w, high, 0), d = source<U32>(w, high, 1);
  const U32 partial = c + d, upper = partial - bits_as<U32>(carry);
  write(w, high, upper);
  write_carry(w, high, mask_of((partial < c) | (upper < partial)));
  CONTINUE_AT(w, i + 2);
}
ALWAYS_INLINE void subtract_with_borrow_out(Wave& w, const Instruction& i, U32 a, U32 b) {
  write(w, i, subtract_unsigned(i, a, b));
  write_carry(w, i, mask_of(a < b));
}
OPERATION(v_sub_co_u32) {
  subtract_with_borrow_out(w, i, source<U32>(w, i, 0), source<U32>(w, i, 1));
}
OPERATION(v_subrev_co_u32) {
  subtract_with_borrow_out(w, i, source<U32>(w, i, 1), source<U32>(w, i, 0));
}
OPERATION(v_add_co_ci_u32) {
  const U32 a = source<U32>(w, i, 0), b = source<U32>(w, i, 1);
  const I32 carry_in = lanes_of(mask_operand(w, i.source[2]));
  const U32 partial = a + b, sum = partial - bits_as<U32>(carry_in);
  const I32 carry = (partial < a) | (sum < partial);
  write(w, i, clamps(i) ? select(carry, (U32)~0U, sum) : sum);
  write_carry(w, i, mask_of(carry));
}
ALWAYS_INLINE void subtract_with_borrow(Wave& w, const Instruction& i, U32 a, U32 b) {
  const I32 borrow_in = lanes_of(mask_operand(w, i.source[2]));
  const U32 difference = a - b + bits_as<U32>(borrow_in);
  const I32 borrow = (a < b) | ((a == b) & borrow_in);
  write(w, i, clamps(i) ? select(borrow, (U32)0U, difference) : difference);
  write_carry(w, i, mask_of(borrow));
}
OPERATION(v_sub_co_ci_u32) {
  subtract_with_borrow(w, i, source<U32>(w, i, 0), source<U32>(w, i, 1));
}
OPERATION(v_subrev_co_ci_u32) {
  subtract_with_borrow(w, i, source<U32>(w, i, 1), source<U32>(w, i, 0));
}

// ---- products

ALWAYS_INLINE U64 product(U32 a, U32 b) { return convert<U64>(a) * convert<U64>(b); }
ALWAYS_INLINE I64 product(I32 a, I32 b) { return convert<I64>(a) * convert<I64>(b); }
ALWAYS_INLINE I32 low24(I32 a) { return (a << 8) >> 8; }
ALWAYS_INLINE U32 low24(U32 a) { return a & 0xFF'FFFFU; }

BINARY(v_mul_lo_u32, U32, U32, a* b)
BINARY(v_mul_hi_u32, U32, U32, convert<U32>(product(a, b) >> 32))
BINARY(v_mul_hi_i32, I32, I32, convert<I32>(product(a, b) >> 32))
BINARY(v_mul_u32_u24, U32, U32, low24(a) * low24(b))
BINARY(v_mul_i32_i24, I32, U32, bits_as<U32>(low24(a)) * bits_as<U32>(low24(b)))
BINARY(v_mul_hi_u32_u24, U32, U32, convert<U32>(product(low24(a), low24(b)) >> 32))
BINARY(v_mul_hi_i32_i24, I32, I32, convert<I32>(product(low24(a), low24(b)) >> 32))
ALWAYS_INLINE U32 multiply_add_24(const Instruction& i, U32 a, U32 b, U32 c) {
  const U32 low = low24(a) * low24(b);
  if (!clamps(i)) return low + c;
  const U64 sum = product(low24(a), low24(b)) + convert<U64>(c);
  return select(convert<I32>(sum >> 32) != 0, (U32)~0U, convert<U32>(sum));
}
ALWAYS_INLINE I32 multiply_add_24(const Instruction& i, I32 a, I32 b, I32 c) {
  const U32 low = bits_as<U32>(low24(a)) * bits_as<U32>(low24(b)) + bits_as<U32>(c);
  if (!clamps(i)) return bits_as<I32>(low);
  const I64 sum = product(low24(a), low24(b)) + convert<I64>(c);
  const I64 upper = sum > (I64)0x7FFF'FFFFLL ? (I64)0x7FFF'FFFFLL : sum;
  return convert<I32>(upper < (I64)-0x8000'0000LL ? (I64)-0x8000'0000LL : upper);
}
TERNARY(v_mad_u32_u24, U32, U32, multiply_add_24(i, a, b, c))
TERNARY(v_mad_i32_i24, I32, I32, multiply_add_24(i, a, b, c))
OPERATION(v_mad_u64_u32) {
  const U64 c = source<U64>(w, i, 2);
  const U64 sum = product(source<U32>(w, i, 0), source<U32>(w, i, 1)) + c;
  const I64 carry = sum < c;
  write(w, i, clamps(i) ? (carry ? (U64)~0ULL : sum) : sum);
  write_carry(w, i, mask_of(carry));
}
OPERATION(v_mad_i64_i32) {
  const I64 c = source<I64>(w, i, 2);
  const I64 p = product(source<I32>(w, i, 0), source<I32>(w, i, 1));
  const U64 sum = bits_as<U64>(p) + bits_as<U64>(c);
  const I64 overflow = bits_as<I64>(~bits_as<U64>(p ^ c) & (bits_as<U64>(p) ^ sum)) < 0;
  const U64 limit = (bits_as<U64>(c) >> 63) + 0x7FFF'FFFF'FFFF'FFFFULL;
  write(w, i, clamps(i) ? (overflow ? limit : sum) : sum);
  write_carry(w, i, mask_of(overflow));
}
OPERATION(v_mad_u32_u16) {
  const U32 a = convert<U32>(source<U16>(w, i, 0)), b = convert<U32>(source<U16>(w, i, 1));
  write(w, i, add_unsigned(i, a * b, source<U32>(w, i, 2)));
}
OPERATION(v_mad_i32_i16) {
  const I32 a = convert<I32>(source<I16>(w, i, 0)), b = convert<I32>(source<I16>(w, i, 1));
  write(w, i, add_signed(i, bits_as<U32>(a * b), source<U32>(w, i, 2)));
}

// ---- combined operations

TERNARY(v_add3_u32, U32, U32, a + b + c)
TERNARY(v_lshl_add_u32, U32, U32, (a << (b & 31U)) + c)
TERNARY(v_add_lshl_u32, U32, U32, (a + b) << (c & 31U))
TERNARY(v_lshl_or_b32, U32, U32, (a << (b & 31U)) | c)
TERNARY(v_and_or_b32, U32, U32, (a & b) | c)
TERNARY(v_or3_b32, U32, U32, a | b | c)
TERNARY(v_xor3_b32, U32, U32, a ^ b ^ c)
// gfx950: bit k of the table is the result where the sources' bits are those of k, the first the
// highest.
template <class T>
ALWAYS_INLINE T by_table(const Instruction& i, T a, T b, T c) {
  T result = a ^ a;
  for (unsigned k = 0; k < 8; ++k) {
    if ((i.immediate >> k & 1) == 0) continue;
    result |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
  }
  return result;
}
TERNARY(v_bitop3_b32, U32, U32, by_table(i, a, b, c))
TERNARY(v_bitop3_b16, U16, U16, by_table(i, a, b, c))
UNARY(v_prng_b32, U32, U32, a << 1 ^ (a >> 31) * 197U)
// Two shifted numbers, clamped to bytes.
ALWAYS_INLINE U16 shifted_bytes(Wave& w, const Instruction& i, I32 least, I32 most) {
  const I32 count = bits_as<I32>(read_u32(w, i.source[2]) & 31U);
  const auto byte = [&](int n) {
    const I32 value = source<I32>(w, i, n) >> count;
    const I32 clamped = select(value < least, least, select(value > most, most, value));
    return bits_as<U32>(clamped) & 0xFFU;
  };
  return convert<U16>(byte(0) | byte(1) << 8);
}
OPERATION(v_ashr_pk_i8_i32) { write_bits(w, i, shifted_bytes(w, i, (I32)-128, (I32)127)); }
OPERATION(v_ashr_pk_u8_i32) { write_bits(w, i, shifted_bytes(w, i, (I32)0, (I32)255)); }
TERNARY(v_xad_u32, U32, U32, (a ^ b) + c)

OPERATION(v_lshl_add_u64) {
  const U64 amount = convert<U64>(source<U32>(w, i, 1) & 7U);
  write(w, i, (source<U64>(w, i, 0) << amount) + source<U64>(w, i, 2));
}

// ---- minimum, maximum, median

template <class T>
ALWAYS_INLINE T least(T a, T b) {
  return __builtin_elementwise_min(a, b);
}
template <class T>
ALWAYS_INLINE T greatest(T a, T b) {
  return __builtin_elementwise_max(a, b);
}
template <class T>
ALWAYS_INLINE T median(T a, T b, T c) {
  return greatest(least(a, b), least(greatest(a, b), c));
}

#define ORDERED(suffix, T)                                    \
  BINARY(v_min_##suffix, T, T, least(a, b))                   \
  BINARY(v_max_##suffix, T, T, greatest(a, b))                \
  TERNARY(v_min3_##suffix, T, T, least(least(a, b), c))       \
  TERNARY(v_max3_##suffix, T, T, greatest(greatest(a, b), c)) \
  TERNARY(v_med3_##suffix, T, T, median(a, b, c))             \
  TERNARY(v_maxmin_##suffix, T, T, least(greatest(a, b), c))  \
  TERNARY(v_minmax_##suffix, T, T, greatest(least(a, b), c))
ORDERED(u32, U32)
ORDERED(i32, I32)

// ---- bits

UNARY(v_mov_b32, U32, U32, a)
UNARY(v_mov_b64, U64, U64, a)
UNARY(v_not_b32, U32, U32, ~a)
UNARY(v_bfrev_b32, U32, U32, __builtin_elementwise_bitreverse(a))
BINARY(v_and_b32, U32, U32, a& b)
BINARY(v_or_b32, U32, U32, a | b)
BINARY(v_xor_b32, U32, U32, a ^ b)
BINARY(v_xnor_b32, U32, U32, ~(a ^ b))
BINARY(v_lshlrev_b32, U32, U32, b << (a & 31U))
BINARY(v_lshrrev_b32, U32, U32, b >> (a & 31U))
BINARY(v_ashrrev_i32, I32, I32, b >> (a & 31))
#define SHIFT_WIDE(name, T, expression)                     \
  OPERATION(name) {                                         \
    const U64 a = convert<U64>(source<U32>(w, i, 0) & 63U); \
    const T b = source<T>(w, i, 1);                         \
    write(w, i, (expression));                              \
  }
// By an amount that all lanes share, as in the scaling of an index: without 64-bit lanes.
OPERATION(v_lshlrev_b64) {
  const Operand& amount = i.source[0];
  const u32 by = amount.kind == OperandKind::vector ? 0 : scalar_u32(w, amount) & 63;
  if (by - 1 < 31 && i.source[1].kind == OperandKind::vector) {
    const U32 low = place<U32>(w, i.source[1].value);
    const U32 high = place<U32>(w, i.source[1].value + w.row_stride);
    write_row(w, exec_of(w, i), i.destination.value, low << by);
    write_row(w, exec_of(w, i), i.destination.value + w.row_stride,
              (high << by) | (low >> (32 - by)));
    return;
  }
  const U64 a = convert<U64>(source<U32>(w, i, 0) & 63U);
  write(w, i, source<U64>(w, i, 1) << a);
}
SHIFT_WIDE(v_lshrrev_b64, U64, b >> a)
SHIFT_WIDE(v_ashrrev_i64, I64, b >> bits_as<I64>(a))
TERNARY(v_bfe_u32, U32, U32, (a >> (b & 31U)) & (((U32)1U << (c & 31U)) - 1U))
OPERATION(v_bfe_i32) {
  const I32 a = source<I32>(w, i, 0);
  const U32 offset = source<U32>(w, i, 1) & 31U, width = source<U32>(w, i, 2) & 31U;
  // Shifting back from the top extends the sign.
  const U32 up = (32U - width) & 31U;
  const I32 field = bits_as<I32>(bits_as<U32>(a >> bits_as<I32>(offset)) << up) >> bits_as<I32>(up);
  write(w, i, select(width == 0U, (I32)0, field));
}
TERNARY(v_bfi_b32, U32, U32, (a & b) | (~a & c))
BINARY(v_bfm_b32, U32, U32, (((U32)1U << (a & 31U)) - 1U) << (b & 31U))
TERNARY(v_alignbit_b32, U32, U32, convert<U32>(join(b, a) >> convert<U64>(c & 31U)))
TERNARY(v_alignbyte_b32, U32, U32, convert<U32>(join(b, a) >> convert<U64>((c & 3U) * 8U)))
BINARY(v_bcnt_u32_b32, U32, U32, bit_count(a) + b)
OPERATION(v_clz_i32_u32) {
  const U32 a = source<U32>(w, i, 0);
  write(w, i, select(a == 0U, (U32)~0U, leading_zeros(a)));
}
OPERATION(v_ctz_i32_b32) {
  const U32 a = source<U32>(w, i, 0);
  const U32 reversed = __builtin_elementwise_bitreverse(a);
  write(w, i, select(a == 0U, (U32)~0U, leading_zeros(reversed)));
}
OPERATION(v_cls_i32) {
  const I32 a = source<I32>(w, i, 0);
  const U32 folded = bits_as<U32>(a ^ (a >> 31));
  write(w, i, select(folded == 0U, (U32)~0U, leading_zeros(folded)));
}
OPERATION(v_cvt_i32_i16) { write(w, i, convert<I32>(source<I16>(w, i, 0))); }
OPERATION(v_cvt_u32_u16) { write(w, i, convert<U32>(source<U16>(w, i, 0))); }

OPERATION(v_cndmask_b32) {
  const F32 a = source<F32>(w, i, 0), b = source<F32>(w, i, 1);
  const I32 chosen = lanes_of(mask_operand(w, i.source[2]));
  write_bits(w, i, select(chosen, bits_as<U32>(b), bits_as<U32>(a)));
}

// ---- bytes

// Byte k of the result is the byte of {a, b} that byte k of the selector names, the sign of one
// (8..11), 0 (12) or 0xFF (above).
OPERATION(v_perm_b32) {
  const U64 data = join(source<U32>(w, i, 1), source<U32>(w, i, 0));
  const U32 selector = source<U32>(w, i, 2);
  U32 result = 0U;
  for (u32 k = 0; k < 4; ++k) {
    const U32 s = selector >> (8 * k) & 0xFFU;
    const U32 byte = convert<U32>(data >> convert<U64>((s & 7U) * 8U)) & 0xFFU;
    const U32 sign_from = (s - 8U) * 16U + 15U;
    const U32 sign = 0U - (convert<U32>(data >> convert<U64>(sign_from & 63U)) & 1U);
    U32 value = select(s < 8U, byte, sign & 0xFFU);
    value = select(s == 12U, (U32)0U, value);
    value = select(s > 12U, (U32)0xFFU, value);
    result |= value << (8 * k);
  }
  write(w, i, result);
}
ALWAYS_INLINE U32 byte_of(U32 value, u32 k) { return value >> (8 * k) & 0xFFU; }
ALWAYS_INLINE U32 distance(U32 a, U32 b) { return greatest(a, b) - least(a, b); }
ALWAYS_INLINE U32 byte_distances(U32 a, U32 b) {
  U32 sum = 0U;
  for (u32 k = 0; k < 4; ++k) sum += distance(byte_of(a, k), byte_of(b, k));
  return sum;
}
// Bytes of b that are zero do not count.
ALWAYS_INLINE U32 masked_byte_distances(U32 a, U32 b) {
  U32 sum = 0U;
  for (u32 k = 0; k < 4; ++k) {
    sum += select(byte_of(b, k) == 0U, (U32)0U, distance(byte_of(a, k), byte_of(b, k)));
  }
  return sum;
}
TERNARY(v_sad_u8, U32, U32, byte_distances(a, b) + c)
TERNARY(v_sad_hi_u8, U32, U32, (byte_distances(a, b) << 16) + c)
TERNARY(v_msad_u8, U32, U32, masked_byte_distances(a, b) + c)
TERNARY(v_sad_u16, U32, U32, distance(a & 0xFFFFU, b & 0xFFFFU) + distance(a >> 16, b >> 16) + c)
TERNARY(v_sad_u32, U32, U32, distance(a, b) + c)
// Four sums, each from one byte further on in the first source, for the second one's four bytes.
ALWAYS_INLINE U32 window(U64 bytes, u32 k) { return convert<U32>(bytes >> (8 * k)); }
template <class Differences>
ALWAYS_INLINE void four_packed_sums(Wave& w, const Instruction& i, Differences differences) {
  const U64 a = source<U64>(w, i, 0), c = source<U64>(w, i, 2);
  const U32 b = source<U32>(w, i, 1);
  U64 result = 0U;
  for (u32 k = 0; k < 4; ++k) {
    const U32 sum = differences(window(a, k), b) + convert<U32>(c >> (16 * k) & (u64)0xFFFF);
    result |= convert<U64>(sum & 0xFFFFU) << (16 * k);
  }
  write(w, i, result);
}
OPERATION(v_qsad_pk_u16_u8) { four_packed_sums(w, i, byte_distances); }
OPERATION(v_mqsad_pk_u16_u8) { four_packed_sums(w, i, masked_byte_distances); }
OPERATION(v_mqsad_u32_u8) {
  const U64 a = source<U64>(w, i, 0);
  const U32 b = source<U32>(w, i, 1);
  const Operand& addends = i.source[2];
  U32 sums[4];
  for (u32 k = 0; k < 4; ++k) {
    Operand addend = addends;
    if (addends.kind == OperandKind::vector) addend.value += k * w.row_stride;
    if (addends.kind == OperandKind::scalar) addend.value += 4 * k;
    sums[k] = masked_byte_distances(window(a, k), b) + read_u32(w, addend);
  }
  for (u32 k = 0; k < 4; ++k) {
    write_row(w, exec_of(w, i), i.destination.value + k * w.row_stride, sums[k]);
  }
}
OPERATION(v_lerp_u8) {
  const U32 a = source<U32>(w, i, 0), b = source<U32>(w, i, 1), c = source<U32>(w, i, 2);
  U32 result = 0U;
  for (u32 k = 0; k < 4; ++k) {
    result |= ((byte_of(a, k) + byte_of(b, k) + (byte_of(c, k) & 1U)) >> 1) << (8 * k);
  }
  write(w, i, result);
}

// ---- lanes below this one

ALWAYS_INLINE U32 bits_below() { return ((U32)1U << lane_numbers) - 1U; }
OPERATION(v_mbcnt_lo_u32_b32) {
  const U32 below = i.half == 0 ? bits_below() : (U32)~0U;
  write(w, i, bit_count(source<U32>(w, i, 0) & below) + source<U32>(w, i, 1));
}
OPERATION(v_mbcnt_hi_u32_b32) {
  const U32 below = i.half == 0 ? (U32)0U : bits_below();
  write(w, i, bit_count(source<U32>(w, i, 0) & below) + source<U32>(w, i, 1));
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
