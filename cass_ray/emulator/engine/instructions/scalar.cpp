// Scalar integer and move instructions (RDNA3 ISA, 16.1 SOP2, 16.2 SOPK, 16.3 SOP1, 16.4 SOPC).
#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

ALWAYS_INLINE u32 s0(Wave& w, const Instruction& i) { return scalar_u32(w, i.source[0]); }
ALWAYS_INLINE u32 s1(Wave& w, const Instruction& i) { return scalar_u32(w, i.source[1]); }
ALWAYS_INLINE u64 q0(Wave& w, const Instruction& i) { return scalar_u64(w, i.source[0]); }
ALWAYS_INLINE u64 q1(Wave& w, const Instruction& i) { return scalar_u64(w, i.source[1]); }
ALWAYS_INLINE u32& scc(Wave& w) { return w.scalar[scalar::scc]; }
ALWAYS_INLINE u32 old(Wave& w, const Instruction& i) { return place<u32>(w, i.destination.value); }
ALWAYS_INLINE u64 old64(Wave& w, const Instruction& i) {
  u64 value;
  std::memcpy(&value, &place<u32>(w, i.destination.value), sizeof value);
  return value;
}
ALWAYS_INLINE void put(Wave& w, const Instruction& i, u32 value) {
  write_scalar(w, i.destination, value);
}
ALWAYS_INLINE void put64(Wave& w, const Instruction& i, u64 value) {
  write_scalar64(w, i.destination, value);
}

// Two sources a, b; result r; SCC from `condition`, which may use all three.
#define SCALAR2(name, expression, condition) \
  OPERATION(name) {                          \
    const u32 a = s0(w, i), b = s1(w, i);    \
    const u32 r = (expression);              \
    scc(w) = (condition);                    \
    put(w, i, r);                            \
  }
#define SCALAR2_PLAIN(name, expression)   \
  OPERATION(name) {                       \
    const u32 a = s0(w, i), b = s1(w, i); \
    put(w, i, (expression));              \
  }
#define SCALAR2_WIDE(name, expression)    \
  OPERATION(name) {                       \
    const u64 a = q0(w, i), b = q1(w, i); \
    const u64 r = (expression);           \
    scc(w) = r != 0;                      \
    put64(w, i, r);                       \
  }

// ---- arithmetic: SCC is carry, borrow or signed overflow

SCALAR2(s_add_u32, a + b, r < a)
SCALAR2(s_sub_u32, a - b, a < b)
SCALAR2(s_add_i32, a + b, ((~(a ^ b) & (a ^ r)) >> 31))
SCALAR2(s_sub_i32, a - b, (((a ^ b) & (a ^ r)) >> 31))
OPERATION(s_addc_u32) {
  const u64 sum = u64{s0(w, i)} + s1(w, i) + scc(w);
  scc(w) = static_cast<u32>(sum >> 32);
  put(w, i, static_cast<u32>(sum));
}
OPERATION(s_subb_u32) {
  const u64 a = s0(w, i), b = u64{s1(w, i)} + scc(w);
  scc(w) = a < b;
  put(w, i, static_cast<u32>(a - b));
}
OPERATION(s_add_nc_u64) { put64(w, i, q0(w, i) + q1(w, i)); }
OPERATION(s_sub_nc_u64) { put64(w, i, q0(w, i) - q1(w, i)); }
OPERATION(s_mul_u64) { put64(w, i, q0(w, i) * q1(w, i)); }
SCALAR2(s_absdiff_i32, (static_cast<i32>(a) > static_cast<i32>(b) ? a - b : b - a), r != 0)
SCALAR2_PLAIN(s_mul_i32, a* b)
SCALAR2_PLAIN(s_mul_hi_u32, static_cast<u32>((u64{a} * b) >> 32))
SCALAR2_PLAIN(s_mul_hi_i32,
              static_cast<u32>((i64{static_cast<i32>(a)} * static_cast<i32>(b)) >> 32))
#define SHIFT_ADD(n)                                 \
  OPERATION(s_lshl##n##_add_u32) {                   \
    const u64 sum = (u64{s0(w, i)} << n) + s1(w, i); \
    scc(w) = sum >= u64{1} << 32;                    \
    put(w, i, static_cast<u32>(sum));                \
  }
SHIFT_ADD(1)
SHIFT_ADD(2)
SHIFT_ADD(3)
SHIFT_ADD(4)

// ---- minimum and maximum: SCC says that source 0 was chosen

SCALAR2(s_min_i32, (static_cast<i32>(a) < static_cast<i32>(b) ? a : b),
        static_cast<i32>(a) < static_cast<i32>(b))
SCALAR2(s_min_u32, (a < b ? a : b), a < b)
SCALAR2(s_max_i32, (static_cast<i32>(a) >= static_cast<i32>(b) ? a : b),
        static_cast<i32>(a) >= static_cast<i32>(b))
SCALAR2(s_max_u32, (a >= b ? a : b), a >= b)

// ---- bits

#define BITWISE(name, expression)             \
  SCALAR2(s_##name##_b32, expression, r != 0) \
  SCALAR2_WIDE(s_##name##_b64, expression)
BITWISE(and, a& b)
BITWISE(or, a | b)
BITWISE(xor, a ^ b)
BITWISE(nand, ~(a& b))
BITWISE(nor, ~(a | b))
BITWISE(xnor, ~(a ^ b))
BITWISE(and_not1, a & ~b)
BITWISE(or_not1, a | ~b)

SCALAR2(s_lshl_b32, a << (b & 31), r != 0)
SCALAR2(s_lshr_b32, a >> (b & 31), r != 0)
SCALAR2(s_ashr_i32, static_cast<u32>(static_cast<i32>(a) >> (b & 31)), r != 0)
#define SHIFT_WIDE(name, expression) \
  OPERATION(name) {                  \
    const u64 a = q0(w, i);          \
    const u32 b = s1(w, i) & 63;     \
    const u64 r = (expression);      \
    scc(w) = r != 0;                 \
    put64(w, i, r);                  \
  }
SHIFT_WIDE(s_lshl_b64, a << b)
SHIFT_WIDE(s_lshr_b64, a >> b)
SHIFT_WIDE(s_ashr_i64, static_cast<u64>(static_cast<i64>(a) >> b))

// Bit field: offset in bits 4:0 (5:0), width in 22:16 of source 1.
ALWAYS_INLINE u64 extract(u64 value, u32 offset, u32 width) {
  const u64 shifted = value >> offset;
  return width >= 64 ? shifted : shifted & ((u64{1} << width) - 1);
}
ALWAYS_INLINE u64 sign_from(u64 value, u32 width) {
  if (width == 0 || width >= 64) return value;
  return static_cast<u64>(static_cast<i64>(value << (64 - width)) >> (64 - width));
}
SCALAR2(s_bfe_u32, static_cast<u32>(extract(a, b & 31, b >> 16 & 127)), r != 0)
SCALAR2(s_bfe_i32,
        static_cast<u32>(sign_from(extract(static_cast<u64>(i64{static_cast<i32>(a)}), b & 31,
                                           b >> 16 & 127),
                                   b >> 16 & 127)),
        r != 0)
OPERATION(s_bfe_u64) {
  const u32 b = s1(w, i);
  const u64 r = extract(q0(w, i), b & 63, b >> 16 & 127);
  scc(w) = r != 0;
  put64(w, i, r);
}
OPERATION(s_bfe_i64) {
  const u32 b = s1(w, i), width = b >> 16 & 127;
  const u64 shifted = static_cast<u64>(static_cast<i64>(q0(w, i)) >> (b & 63));
  const u64 r = width == 0 ? 0 : sign_from(shifted, width);
  scc(w) = r != 0;
  put64(w, i, r);
}
SCALAR2_PLAIN(s_bfm_b32, ((1U << (a & 31)) - 1) << (b & 31))
OPERATION(s_bfm_b64) { put64(w, i, ((u64{1} << (s0(w, i) & 63)) - 1) << (s1(w, i) & 63)); }
SCALAR2_PLAIN(s_pack_ll_b32_b16, (a & 0xFFFF) | b << 16)
SCALAR2_PLAIN(s_pack_lh_b32_b16, (a & 0xFFFF) | (b & 0xFFFF'0000))
SCALAR2_PLAIN(s_pack_hh_b32_b16, a >> 16 | (b & 0xFFFF'0000))
SCALAR2_PLAIN(s_pack_hl_b32_b16, a >> 16 | b << 16)

SCALAR2_PLAIN(s_cselect_b32, scc(w) != 0 ? a : b)
OPERATION(s_cselect_b64) { put64(w, i, scc(w) != 0 ? q0(w, i) : q1(w, i)); }

// ---- SOPK: destination and a 16-bit constant

ALWAYS_INLINE u32 constant16(const Instruction& i) { return static_cast<u32>(i.immediate); }
OPERATION(s_movk_i32) { put(w, i, constant16(i)); }
OPERATION(s_cmovk_i32) {
  if (scc(w) != 0) put(w, i, constant16(i));
}
OPERATION(s_addk_i32) {
  const u32 a = old(w, i), b = constant16(i), r = a + b;
  scc(w) = (~(a ^ b) & (a ^ r)) >> 31;
  put(w, i, r);
}
OPERATION(s_mulk_i32) { put(w, i, old(w, i) * constant16(i)); }
#define COMPARE_CONSTANT(name, op)                                           \
  OPERATION(s_cmpk_##name##_i32) {                                           \
    scc(w) = static_cast<i32>(old(w, i)) op static_cast<i32>(constant16(i)); \
  }                                                                          \
  OPERATION(s_cmpk_##name##_u32) { scc(w) = old(w, i) op(constant16(i) & 0xFFFF); }
COMPARE_CONSTANT(eq, ==)
COMPARE_CONSTANT(lg, !=)
COMPARE_CONSTANT(gt, >)
COMPARE_CONSTANT(ge, >=)
COMPARE_CONSTANT(lt, <)
COMPARE_CONSTANT(le, <=)

// ---- SOPC

#define COMPARE(name, op)                                              \
  OPERATION(s_cmp_##name##_i32) {                                      \
    scc(w) = static_cast<i32>(s0(w, i)) op static_cast<i32>(s1(w, i)); \
  }                                                                    \
  OPERATION(s_cmp_##name##_u32) { scc(w) = s0(w, i) op s1(w, i); }
COMPARE(eq, ==)
COMPARE(lg, !=)
COMPARE(gt, >)
COMPARE(ge, >=)
COMPARE(lt, <)
COMPARE(le, <=)
OPERATION(s_cmp_eq_u64) { scc(w) = q0(w, i) == q1(w, i); }
OPERATION(s_cmp_lg_u64) { scc(w) = q0(w, i) != q1(w, i); }
OPERATION(s_bitcmp0_b32) { scc(w) = (s0(w, i) >> (s1(w, i) & 31) & 1) == 0; }
OPERATION(s_bitcmp1_b32) { scc(w) = (s0(w, i) >> (s1(w, i) & 31) & 1) != 0; }
OPERATION(s_bitcmp0_b64) { scc(w) = (q0(w, i) >> (s1(w, i) & 63) & 1) == 0; }
OPERATION(s_bitcmp1_b64) { scc(w) = (q0(w, i) >> (s1(w, i) & 63) & 1) != 0; }

// ---- SOP1

OPERATION(s_mov_b32) { put(w, i, s0(w, i)); }
OPERATION(s_mov_b64) { put64(w, i, q0(w, i)); }
OPERATION(s_cmov_b32) {
  if (scc(w) != 0) put(w, i, s0(w, i));
}
OPERATION(s_cmov_b64) {
  if (scc(w) != 0) put64(w, i, q0(w, i));
}
OPERATION(s_brev_b32) { put(w, i, __builtin_bitreverse32(s0(w, i))); }
OPERATION(s_brev_b64) { put64(w, i, __builtin_bitreverse64(q0(w, i))); }

// All ones where no bit is found.
ALWAYS_INLINE u32 trailing(u64 value) {
  return value == 0 ? ~0U : static_cast<u32>(__builtin_ctzll(value));
}
// The first bit that is 0 (gfx9).
OPERATION(s_ff0_i32_b32) { put(w, i, trailing(~s0(w, i))); }
OPERATION(s_ff0_i32_b64) { put(w, i, trailing(~q0(w, i))); }
OPERATION(s_ctz_i32_b32) { put(w, i, trailing(s0(w, i))); }
OPERATION(s_ctz_i32_b64) { put(w, i, trailing(q0(w, i))); }
OPERATION(s_clz_i32_u32) {
  const u32 a = s0(w, i);
  put(w, i, a == 0 ? ~0U : static_cast<u32>(__builtin_clz(a)));
}
OPERATION(s_clz_i32_u64) {
  const u64 a = q0(w, i);
  put(w, i, a == 0 ? ~0U : static_cast<u32>(__builtin_clzll(a)));
}
// Leading bits equal to the sign.
OPERATION(s_cls_i32) {
  const u32 a = s0(w, i), folded = a ^ static_cast<u32>(static_cast<i32>(a) >> 31);
  put(w, i, folded == 0 ? ~0U : static_cast<u32>(__builtin_clz(folded)));
}
OPERATION(s_cls_i32_i64) {
  const u64 a = q0(w, i), folded = a ^ static_cast<u64>(static_cast<i64>(a) >> 63);
  put(w, i, folded == 0 ? ~0U : static_cast<u32>(__builtin_clzll(folded)));
}
OPERATION(s_sext_i32_i8) { put(w, i, static_cast<u32>(i32{static_cast<std::int8_t>(s0(w, i))})); }
OPERATION(s_sext_i32_i16) { put(w, i, static_cast<u32>(i32{static_cast<std::int16_t>(s0(w, i))})); }
OPERATION(s_bitset0_b32) { put(w, i, old(w, i) & ~(1U << (s0(w, i) & 31))); }
OPERATION(s_bitset1_b32) { put(w, i, old(w, i) | 1U << (s0(w, i) & 31)); }
OPERATION(s_bitset0_b64) { put64(w, i, old64(w, i) & ~(u64{1} << (s0(w, i) & 63))); }
OPERATION(s_bitset1_b64) { put64(w, i, old64(w, i) | u64{1} << (s0(w, i) & 63)); }
OPERATION(s_bitreplicate_b64_b32) {
  const u32 a = s0(w, i);
  u64 r = 0;
  for (int bit = 0; bit < 32; ++bit) r |= u64{(a >> bit & 1) * 3} << (2 * bit);
  put64(w, i, r);
}
OPERATION(s_abs_i32) {
  const u32 a = s0(w, i), r = static_cast<i32>(a) < 0 ? 0 - a : a;
  scc(w) = r != 0;
  put(w, i, r);
}
#define COUNT(name, read, expression)           \
  OPERATION(name) {                             \
    const auto a = read(w, i);                  \
    const u32 r = static_cast<u32>(expression); \
    scc(w) = r != 0;                            \
    put(w, i, r);                               \
  }
COUNT(s_bcnt0_i32_b32, s0, 32 - __builtin_popcount(a))
COUNT(s_bcnt0_i32_b64, q0, 64 - __builtin_popcountll(a))
COUNT(s_bcnt1_i32_b32, s0, __builtin_popcount(a))
COUNT(s_bcnt1_i32_b64, q0, __builtin_popcountll(a))

// A bit for each group of four bits that is not all zero; all four of it for whole quad mode.
ALWAYS_INLINE u64 any_of_quads(u64 value) {
  const u64 pairs = value | value >> 1;
  return (pairs | pairs >> 2) & 0x1111'1111'1111'1111;
}
ALWAYS_INLINE u64 quad_mask(u64 value) {
  u64 mask = 0;
  const u64 any = any_of_quads(value);
  for (int quad = 0; quad < 16; ++quad) mask |= (any >> (4 * quad) & 1) << quad;
  return mask;
}
SCALAR2_WIDE(s_quadmask_b64, (static_cast<void>(b), quad_mask(a)))
SCALAR2_WIDE(s_wqm_b64, (static_cast<void>(b), any_of_quads(a) * 15))
SCALAR2(s_quadmask_b32, (static_cast<void>(b), static_cast<u32>(quad_mask(a))), r != 0)
SCALAR2(s_wqm_b32, (static_cast<void>(b), static_cast<u32>(any_of_quads(a) * 15)), r != 0)
OPERATION(s_not_b32) {
  const u32 r = ~s0(w, i);
  scc(w) = r != 0;
  put(w, i, r);
}
OPERATION(s_not_b64) {
  const u64 r = ~q0(w, i);
  scc(w) = r != 0;
  put64(w, i, r);
}

// ---- EXEC: a is the source, e is EXEC; the destination gets the old EXEC (saveexec) or the new
// one

ALWAYS_INLINE u64 exec64(Wave& w) {
  u64 value;
  std::memcpy(&value, &w.scalar[scalar::exec], sizeof value);
  return value;
}
#define SAVE_EXEC(name, expression)                     \
  OPERATION(s_##name##_saveexec_b32) {                  \
    const u32 a = s0(w, i), e = w.scalar[scalar::exec]; \
    put(w, i, e);                                       \
    w.scalar[scalar::exec] = (expression);              \
    scc(w) = w.scalar[scalar::exec] != 0;               \
  }                                                     \
  OPERATION(s_##name##_saveexec_b64) {                  \
    const u64 a = q0(w, i), e = exec64(w);              \
    const u64 r = (expression);                         \
    put64(w, i, e);                                     \
    std::memcpy(&w.scalar[scalar::exec], &r, sizeof r); \
    scc(w) = r != 0;                                    \
  }
SAVE_EXEC(and, a& e)
SAVE_EXEC(or, a | e)
SAVE_EXEC(xor, a ^ e)
SAVE_EXEC(nand, ~(a& e))
SAVE_EXEC(nor, ~(a | e))
SAVE_EXEC(xnor, ~(a ^ e))
SAVE_EXEC(and_not0, ~a& e)
SAVE_EXEC(or_not0, ~a | e)
SAVE_EXEC(and_not1, a & ~e)
SAVE_EXEC(or_not1, a | ~e)
#define WRITE_EXEC(name, expression)                    \
  OPERATION(s_##name##_wrexec_b32) {                    \
    const u32 a = s0(w, i), e = w.scalar[scalar::exec]; \
    const u32 r = (expression);                         \
    w.scalar[scalar::exec] = r;                         \
    put(w, i, r);                                       \
    scc(w) = r != 0;                                    \
  }                                                     \
  OPERATION(s_##name##_wrexec_b64) {                    \
    const u64 a = q0(w, i), e = exec64(w);              \
    const u64 r = (expression);                         \
    std::memcpy(&w.scalar[scalar::exec], &r, sizeof r); \
    put64(w, i, r);                                     \
    scc(w) = r != 0;                                    \
  }
WRITE_EXEC(and_not0, ~a& e)
WRITE_EXEC(and_not1, a & ~e)

// ---- registers chosen by M0

ALWAYS_INLINE u32 relative(u32 index, u32 offset) { return (index + offset) & 127; }
OPERATION(s_movrels_b32) { put(w, i, w.scalar[relative(i.source[0].index, w.scalar[scalar::m0])]); }
OPERATION(s_movrels_b64) {
  u64 value;
  std::memcpy(&value, &w.scalar[relative(i.source[0].index, w.scalar[scalar::m0])], sizeof value);
  put64(w, i, value);
}
OPERATION(s_movreld_b32) {
  w.scalar[relative(i.destination.index, w.scalar[scalar::m0])] = s0(w, i);
}
OPERATION(s_movreld_b64) {
  const u64 value = q0(w, i);
  std::memcpy(&w.scalar[relative(i.destination.index, w.scalar[scalar::m0])], &value, sizeof value);
}
OPERATION(s_movrelsd_2_b32) {
  const u32 m0 = w.scalar[scalar::m0];
  w.scalar[relative(i.destination.index, m0 >> 16 & 0x3FF)] =
      w.scalar[relative(i.source[0].index, m0 & 0x3FF)];
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
