// Data between lanes, and registers chosen at run time (RDNA3 ISA, 7.7 DPP, 16.8, 16.10, 12.5.1).
#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// data[index[lane]] for every lane; indices are taken modulo 32.
ALWAYS_INLINE U32 permute(U32 data, U32 index) {
#if defined(__AVX512F__)
  struct Parts {
    __m512i part[2];
  };
  const auto from = bits_as<Parts>(data);
  auto by = bits_as<Parts>(index);
  for (auto& part : by.part) part = _mm512_permutex2var_epi32(from.part[0], part, from.part[1]);
  return bits_as<U32>(by);
#else
  struct List {
    u32 lane[lanes];
  };
  const auto from = bits_as<List>(data);
  auto by = bits_as<List>(index);
  for (u32& lane : by.lane) lane = from.lane[lane % lanes];
  return bits_as<U32>(by);
#endif
}

ALWAYS_INLINE u32& lane_of(Wave& w, const Operand& operand, unsigned lane) {
  const u32 half = w.wide ? lane / lanes : 0;
  return place<u32>(w, operand.value + half * static_cast<u32>(sizeof(Row)) + 4 * (lane % lanes));
}

ALWAYS_INLINE unsigned lane_mask(const Wave& w) { return w.wide ? 63 : 31; }

// ---- one lane; EXEC does not matter to v_readlane and v_writelane

OPERATION(v_readfirstlane_b32) {
  u64 exec = w.scalar[scalar::exec];
  if (w.wide) exec |= u64{w.scalar[scalar::exec + 1]} << 32;
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(exec));
  const bool vector = i.source[0].kind == OperandKind::vector;
  write_scalar(w, i.destination,
               vector ? lane_of(w, i.source[0], lane) : scalar_u32(w, i.source[0]));
}
OPERATION(v_readlane_b32) {
  const unsigned lane = scalar_u32(w, i.source[1]) & lane_mask(w);
  const bool vector = i.source[0].kind == OperandKind::vector;
  write_scalar(w, i.destination,
               vector ? lane_of(w, i.source[0], lane) : scalar_u32(w, i.source[0]));
}
OPERATION(v_writelane_b32) {
  const unsigned lane = scalar_u32(w, i.source[1]) & lane_mask(w);
  lane_of(w, i.destination, lane) = scalar_u32(w, i.source[0]);
}

// ---- permutations within rows of 16 lanes; the selects are scalars

// Lanes that read an inactive lane: unchanged, or zero with bound control.
ALWAYS_INLINE void write_permuted(Wave& w, const Instruction& i, U32 index) {
  const u32 exec = exec_of(w, i);
  const bool fetch_inactive = (i.flags & flag::op_sel_0) != 0;
  const bool zero_invalid = (i.flags & flag::op_sel_1) != 0;
  const I32 valid = fetch_inactive ? (I32)-1 : (((U32)exec >> (index & 31U)) & 1U) != 0U;
  const U32 value = select(valid, permute(read_u32(w, i.source[0]), index), (U32)0U);
  write_row(w, zero_invalid ? exec : exec & mask_of(valid), i.destination.value, value);
}
ALWAYS_INLINE U32 row_select(Wave& w, const Instruction& i) {
  const u64 selects = scalar_u32(w, i.source[1]) | u64{scalar_u32(w, i.source[2])} << 32;
  const U32 column = lane_numbers & 15U;
  return convert<U32>((U64)selects >> convert<U64>(column * 4U)) & 15U;
}
OPERATION(v_permlane16_b32) { write_permuted(w, i, (lane_numbers & 16U) | row_select(w, i)); }
OPERATION(v_permlanex16_b32) {
  write_permuted(w, i, ((lane_numbers & 16U) ^ 16U) | row_select(w, i));
}
// gfx12: each lane names its own source.
OPERATION(v_permlane16_var_b32) {
  write_permuted(w, i, (lane_numbers & 16U) | (read_u32(w, i.source[1]) & 15U));
}
OPERATION(v_permlanex16_var_b32) {
  write_permuted(w, i, ((lane_numbers & 16U) ^ 16U) | (read_u32(w, i.source[1]) & 15U));
}
// The other half of a 64-lane wave; in a wave of 32 nothing happens.
OPERATION(v_permlane64_b32) {
  if (!w.wide) return;
  const u32 next = static_cast<u32>(sizeof(Row));
  const U32 low = place<U32>(w, i.source[0].value), high = place<U32>(w, i.source[0].value + next);
  write_row(w, w.scalar[scalar::exec], i.destination.value, high);
  write_row(w, w.scalar[scalar::exec + 1], i.destination.value + next, low);
}

// gfx950: rows 1 and 3 of the destination change places with rows 0 and 2 of the source, or its
// upper half with the source's lower one (CDNA4 ISA, 12.8 VOP1). The manual does not say what
// happens where one of two lanes is inactive.
FALLIBLE(v_permlane16_swap_b32) {
  const Instruction& i = *ip;
  const u32 exec = exec_of(w, i), active = exec & 0xFFFFU;
  if (exec >> 16 != active) {
    w.current = ip;
    stop(w, ip, WaveFault::unsupported_instruction);
    return false;
  }
  U32& to = place<U32>(w, i.destination.value);
  U32& from = place<U32>(w, i.source[0].value);
  const U32 old_to = to, old_from = from;
  from = select(lanes_of(active), permute(old_to, lane_numbers ^ 16U), from);
  to = select(lanes_of(active << 16), permute(old_from, lane_numbers ^ 16U), to);
  return true;
}
FALLIBLE(v_permlane32_swap_b32) {
  const Instruction& i = *ip;
  const u32 active = w.scalar[scalar::exec];
  if (w.scalar[scalar::exec + 1] != active) {
    w.current = ip;
    stop(w, ip, WaveFault::unsupported_instruction);
    return false;
  }
  U32& upper = place<U32>(w, i.destination.value + static_cast<u32>(sizeof(Row)));
  U32& lower = place<U32>(w, i.source[0].value);
  const U32 old_upper = upper, old_lower = lower;
  upper = select(lanes_of(active), old_lower, old_upper);
  lower = select(lanes_of(active), old_upper, old_lower);
  return true;
}

// ---- through the LDS crossbar: addresses are lane numbers times four

ALWAYS_INLINE U32 crossbar_lane(Wave& w, const Instruction& i) {
  return (read_u32(w, i.source[0]) + static_cast<u32>(i.immediate)) >> 2 & 31U;
}
ALWAYS_INLINE I32 is_active(u32 exec, U32 index) { return ((U32)exec >> index & 1U) != 0U; }

OPERATION(ds_bpermute_b32) {
  const U32 index = crossbar_lane(w, i);
  const U32 value = permute(read_u32(w, i.source[1]), index);
  write_bits(w, i, select(is_active(exec_of(w, i), index), value, (U32)0U));
}
// Any lane of a wave of 64 (gfx9).
struct WholeWave {
  u32 lane[2 * lanes];
};
ALWAYS_INLINE WholeWave whole(Wave& w, const Operand& operand) {
  WholeWave all;
  for (unsigned half = 0; half < 2; ++half) {
    const bool vector = operand.kind == OperandKind::vector;
    const U32 row = vector ? place<U32>(w, operand.value + half * static_cast<u32>(sizeof(Row)))
                           : (U32)scalar_u32(w, operand);
    std::memcpy(all.lane + lanes * half, &row, sizeof row);
  }
  return all;
}
ALWAYS_INLINE u64 exec_of_both(const Wave& w) {
  return w.scalar[scalar::exec] | u64{w.scalar[scalar::exec + 1]} << 32;
}
ALWAYS_INLINE void write_whole(Wave& w, const Instruction& i, const WholeWave& all) {
  for (unsigned half = 0; half < 2; ++half) {
    U32 row;
    std::memcpy(&row, all.lane + lanes * half, sizeof row);
    write_row(w, w.scalar[scalar::exec + half],
              i.destination.value + half * static_cast<u32>(sizeof(Row)), row);
  }
}
ALWAYS_INLINE unsigned crossbar_lane_of_64(const WholeWave& address, const Instruction& i,
                                           unsigned lane) {
  return (address.lane[lane] + static_cast<u32>(i.immediate)) >> 2 & 63;
}
// MI300 ISA, 12.13: DS_BPERMUTE_B32, DS_PERMUTE_B32.
OPERATION(ds_bpermute_b32_gfx9) {
  const WholeWave address = whole(w, i.source[0]), data = whole(w, i.source[1]);
  const u64 exec = exec_of_both(w);
  WholeWave result;
  for (unsigned lane = 0; lane < 2 * lanes; ++lane) {
    const unsigned from = crossbar_lane_of_64(address, i, lane);
    result.lane[lane] = (exec >> from & 1) != 0 ? data.lane[from] : 0;
  }
  write_whole(w, i, result);
}
// Lanes that are not active are read too (RDNA4 ISA, DS_BPERMUTE_FI_B32).
OPERATION(ds_bpermute_fi_b32) {
  if (!w.wide) {
    write_bits(w, i, permute(read_u32(w, i.source[1]), crossbar_lane(w, i)));
    return;
  }
  const WholeWave address = whole(w, i.source[0]), data = whole(w, i.source[1]);
  WholeWave result;
  for (unsigned lane = 0; lane < 2 * lanes; ++lane) {
    result.lane[lane] = data.lane[crossbar_lane_of_64(address, i, lane)];
  }
  write_whole(w, i, result);
}
OPERATION(ds_permute_b32_gfx9) {
  const WholeWave address = whole(w, i.source[0]), data = whole(w, i.source[1]);
  WholeWave result = {};
  for (u64 rest = exec_of_both(w); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    result.lane[crossbar_lane_of_64(address, i, lane)] = data.lane[lane];
  }
  write_whole(w, i, result);
}
OPERATION(ds_permute_b32) {
  struct List {
    u32 lane[lanes];
  };
  const auto index = bits_as<List>(crossbar_lane(w, i));
  const auto data = bits_as<List>(read_u32(w, i.source[1]));
  List result = {};
  for (u32 rest = exec_of(w, i); rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    result.lane[index.lane[lane]] = data.lane[lane];
  }
  write_bits(w, i, bits_as<U32>(result));
}
// Those of all lanes, however many the wave has (RDNA4 ISA, DS_BPERMUTE_B32, DS_PERMUTE_B32).
OPERATION(ds_bpermute_b32_gfx12) {
  w.wide ? execute_ds_bpermute_b32_gfx9(w, i) : execute_ds_bpermute_b32(w, i);
}
OPERATION(ds_permute_b32_gfx12) {
  w.wide ? execute_ds_permute_b32_gfx9(w, i) : execute_ds_permute_b32(w, i);
}
// The offset is a pattern: a permutation of each four lanes, a rotation, or and / or / xor masks
// on the lane number.
ALWAYS_INLINE U32 swizzled_lane(u32 pattern) {
  const U32 lane = lane_numbers;
  if (pattern >= 0xE000) {
    // Reversed bits of the lane number, above the bits that the mask keeps.
    const u32 keep = pattern & 31;
    const U32 reversed = __builtin_elementwise_bitreverse(lane) >> 27;
    return keep == 31 ? lane : (keep == 0 ? reversed : ((reversed & ~keep) | (lane & keep)) & 31U);
  }
  if (pattern >= 0xC000) {
    const u32 keep = pattern & 31, amount = pattern >> 5 & 31;
    const bool right = (pattern >> 10 & 1) != 0;
    const U32 moved = right ? lane - amount : lane + amount;
    return (lane & keep) | (moved & (~keep & 31U));
  }
  if ((pattern & 0x8000) != 0) {
    return (lane & ~3U) | ((U32)(pattern & 0xFF) >> ((lane & 3U) * 2U) & 3U);
  }
  return ((lane & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
}
OPERATION(ds_swizzle_b32) {
  const U32 index = swizzled_lane(static_cast<u32>(i.immediate));
  const U32 value = permute(read_u32(w, i.source[0]), index);
  write_bits(w, i, select(is_active(exec_of(w, i), index), value, (U32)0U));
}

// ---- DPP: source 0 is permuted into a temporary, EXEC narrowed for one instruction

// Both halves of a wave: index 32 is the first lane of the upper one.
struct LaneSource {
  U32 index;
  I32 inside;  // there is such a lane
};
ALWAYS_INLINE LaneSource dpp_source(u32 control, bool eight, unsigned half) {
  const U32 lane = lane_numbers + lanes * half, row = lane & 48U, column = lane & 15U;
  const I32 always = (I32)-1;
  if (eight) {
    return {(lane & ~7U) | ((U32)control >> ((lane & 7U) * 3U) & 7U), always};
  }
  const u32 amount = control & 15;
  switch (control >> 4) {
    case 0x10: return {lane + amount, column + amount < 16U};
    case 0x11: return {lane - amount, column >= amount};
    case 0x12: return {row | ((column - amount) & 15U), always};
    case 0x13:  // the wave's lanes as one row (gfx9): shifted or rotated by one
      switch (amount) {
        case 0: return {lane + 1U, lane < 63U};
        case 4: return {(lane + 1U) & 63U, always};
        case 8: return {lane - 1U, lane > 0U};
        default: return {(lane - 1U) & 63U, always};
      }
    case 0x14:
      // A row's last lane for the next row, or lane 31 for the upper half (gfx9).
      if (amount == 2) return {row - 1U, row > 0U};
      if (amount == 3) return {(U32)31U, lane > 31U};
      return {(control & 1) == 0 ? row | (15U - column) : (lane & 56U) | (7U - (lane & 7U)),
              always};
    case 0x15: return {row | amount, always};
    case 0x16: return {row | (column ^ amount), always};
    default: return {(lane & ~3U) | ((U32)control >> ((lane & 3U) * 2U) & 3U), always};
  }
}
// Lanes of both halves; of the source's lowest register and those behind it.
ALWAYS_INLINE U32 dpp_value(Wave& w, const Operand& operand, U32 index, unsigned half, u32 number) {
  if (operand.kind != OperandKind::vector) return read_u32(w, operand);
  const u32 lower = operand.value + number * w.row_stride - half * static_cast<u32>(sizeof(Row));
  const U32 own = permute(place<U32>(w, lower + half * static_cast<u32>(sizeof(Row))), index & 31U);
  if (!w.wide) return own;
  const U32 other =
      permute(place<U32>(w, lower + (1 - half) * static_cast<u32>(sizeof(Row))), index & 31U);
  return select((index >> 5) == half, own, other);
}
ALWAYS_INLINE I32 dpp_active(const Wave& w, U32 index) {
  const I32 lower = is_active(w.scalar[scalar::exec], index & 31U);
  if (!w.wide) return lower;
  return select(index < 32U, lower, is_active(w.scalar[scalar::exec + 1], index & 31U));
}
// Lanes of the rows and of the groups of four that the masks select.
ALWAYS_INLINE u32 selected_lanes(u32 row_mask, u32 bank_mask, unsigned half) {
  const u32 banks = (bank_mask & 1) * 0x000F | (bank_mask >> 1 & 1) * 0x00F0 |
                    (bank_mask >> 2 & 1) * 0x0F00 | (bank_mask >> 3 & 1) * 0xF000;
  const u32 rows = row_mask >> (2 * half);
  return (rows & 1) * banks | (rows >> 1 & 1) * (banks << 16);
}
OPERATION(engine_dpp_enter) {
  u32& exec = w.scalar[scalar::exec + i.half];
  w.saved_exec[i.half] = exec;
  const LaneSource from = dpp_source(static_cast<u32>(i.immediate), i.output_scale != 0, i.half);
  const bool fetch_inactive = (i.flags & flag::op_sel_0) != 0;
  const I32 active = fetch_inactive ? (I32)-1 : dpp_active(w, from.index);
  const I32 valid = from.inside & active;
  for (u32 number = 0; number < i.destination.index; ++number) {
    const U32 value = dpp_value(w, i.source[0], from.index, i.half, number);
    place<U32>(w, i.destination.value + number * w.row_stride) = select(valid, value, (U32)0U);
  }
  const u32 masks = i.destination.modifiers;
  u32 written = exec & selected_lanes(masks & 15, masks >> 4, i.half);
  if ((i.flags & flag::op_sel_1) == 0 && i.output_scale == 0) written &= mask_of(valid);
  if (w.wide) {
    w.dpp_exec[i.half] = written;
  } else {
    exec = written;
  }
}
// In a wave of 64 once the sources of both halves have been read.
OPERATION(engine_dpp_narrow) { w.scalar[scalar::exec + i.half] = w.dpp_exec[i.half]; }
OPERATION(engine_dpp_leave) { w.scalar[scalar::exec + i.half] = w.saved_exec[i.half]; }

// ---- SDWA: parts of registers (MI300 ISA, 13.3.8)

// Parts 0 to 3 are bytes, 4 and 5 halves.
ALWAYS_INLINE u32 part_shift(u32 part) { return part < 4 ? 8 * part : 16 * (part - 4); }
ALWAYS_INLINE u32 part_mask(u32 part) { return part < 4 ? 0xFFU : 0xFFFFU; }

OPERATION(engine_select) {
  const u32 part = static_cast<u32>(i.immediate) & 7;
  const U32 value = read_u32(w, i.source[0]) >> part_shift(part) & part_mask(part);
  const u32 sign = (part_mask(part) >> 1) + 1;
  const bool extends = (i.immediate & 8) != 0;
  place<U32>(w, i.destination.value) = extends ? (value ^ sign) - sign : value;
}
OPERATION(engine_merge) {
  const u32 part = static_cast<u32>(i.immediate) & 7, rest = static_cast<u32>(i.immediate) >> 4;
  const u32 shift = part_shift(part), mask = part_mask(part) << shift;
  const U32 value = place<U32>(w, i.source[0].value) << shift & mask;
  const U32 old = place<U32>(w, i.destination.value);
  U32 result = value;
  if (rest == 2) {
    result |= old & ~mask;
  } else if (rest == 1) {
    // Sign above the part, zero below.
    const u32 above = ~(mask | (mask - 1));
    result |= select((value & (mask & ~(mask >> 1))) != 0U, (U32)above, (U32)0U);
  }
  write_row(w, exec_of(w, i), i.destination.value, result);
}

// ---- VGPRs numbered relative to M0; beyond the last one: v0

ALWAYS_INLINE U32& relative_row(Wave& w, const Instruction& i, const Operand& operand, u32 offset) {
  const u32 index = operand.index + offset;
  const u32 number = index < w.vector_count ? index : 0;
  return place<U32>(w, vector_offset(number, w.wide, i.half));
}
// s_set_gpr_idx_on (MI300 ISA, 12.4): the index in M0's low byte.
OPERATION(engine_move_indexed) {
  const u32 index = w.scalar[scalar::m0] & 0xFF;
  const bool from = (i.immediate & 1) != 0, to = (i.immediate & 8) != 0;
  const U32 value = from ? U32(relative_row(w, i, i.source[0], index)) : read_u32(w, i.source[0]);
  U32& row = to ? relative_row(w, i, i.destination, index) : place<U32>(w, i.destination.value);
  row = select(lanes_of(exec_of(w, i)), value, row);
}
OPERATION(s_set_gpr_idx_on) {
  w.scalar[scalar::m0] = (scalar_u32(w, i.source[0]) & 0xFF) |
                         (static_cast<u32>(i.immediate) & 15) << 12 |
                         (w.scalar[scalar::m0] & 0xFFFF'0F00U);
}
OPERATION(s_set_gpr_idx_idx) {
  u32& m0 = w.scalar[scalar::m0];
  m0 = (m0 & ~0xFFU) | (scalar_u32(w, i.source[0]) & 0xFF);
}
OPERATION(s_set_gpr_idx_mode) {
  u32& m0 = w.scalar[scalar::m0];
  m0 = (m0 & ~0xF000U) | (static_cast<u32>(i.immediate) & 15) << 12;
}
OPERATION(s_set_gpr_idx_off) {}
OPERATION(v_movrels_b32) {
  write_bits(w, i, U32(relative_row(w, i, i.source[0], w.scalar[scalar::m0])));
}
OPERATION(v_movreld_b32) {
  U32& row = relative_row(w, i, i.destination, w.scalar[scalar::m0]);
  row = select(lanes_of(exec_of(w, i)), read_u32(w, i.source[0]), row);
}
ALWAYS_INLINE void move_relative(Wave& w, const Instruction& i, u32 from, u32 to) {
  U32& row = relative_row(w, i, i.destination, to);
  row = select(lanes_of(exec_of(w, i)), relative_row(w, i, i.source[0], from), row);
}
OPERATION(v_movrelsd_b32) { move_relative(w, i, w.scalar[scalar::m0], w.scalar[scalar::m0]); }
OPERATION(v_movrelsd_2_b32) {
  move_relative(w, i, w.scalar[scalar::m0] & 0x3FF, w.scalar[scalar::m0] >> 16 & 0x3FF);
}
ALWAYS_INLINE void swap(Wave& w, const Instruction& i, U32& a, U32& b) {
  const I32 active = lanes_of(exec_of(w, i));
  const U32 old_a = a, old_b = b;
  a = select(active, old_b, old_a);
  b = select(active, old_a, old_b);
}
OPERATION(v_swap_b32) {
  swap(w, i, place<U32>(w, i.destination.value), place<U32>(w, i.source[0].value));
}
OPERATION(v_swaprel_b32) {
  const u32 m0 = w.scalar[scalar::m0];
  swap(w, i, relative_row(w, i, i.destination, m0 >> 16 & 0x3FF),
       relative_row(w, i, i.source[0], m0 & 0x3FF));
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
