// Loads and stores of LDS (RDNA3 ISA, 16.14 DS, chapter 12).
#include "lds_address.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

OPERATION(ds_load_b32) { load_dwords<1>(w, i, loaded_from(w, i)); }
OPERATION(ds_load_b64) { load_dwords<2>(w, i, loaded_from(w, i)); }
OPERATION(ds_load_b96) { load_dwords<3>(w, i, loaded_from(w, i)); }
OPERATION(ds_load_b128) { load_dwords<4>(w, i, loaded_from(w, i)); }
OPERATION(ds_store_b32) { store_dwords<1>(w, i, i.source[1], lds_at(w, i)); }
OPERATION(ds_store_b64) { store_dwords<2>(w, i, i.source[1], lds_at(w, i)); }
OPERATION(ds_store_b96) { store_dwords<3>(w, i, i.source[1], lds_at(w, i)); }
OPERATION(ds_store_b128) { store_dwords<4>(w, i, i.source[1], lds_at(w, i)); }

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
#define SMALL_LOAD(name, memory, kind, part) \
  OPERATION(name) { load_small<memory, kind, Part::part>(w, i, loaded_from(w, i)); }
SMALL_LOAD(ds_load_u8, u8, u32, whole)
SMALL_LOAD(ds_load_i8, i8, i32, whole)
SMALL_LOAD(ds_load_u16, u16, u32, whole)
SMALL_LOAD(ds_load_i16, i16, i32, whole)
SMALL_LOAD(ds_load_u8_d16, u8, u32, low)
SMALL_LOAD(ds_load_u8_d16_hi, u8, u32, high)
SMALL_LOAD(ds_load_i8_d16, i8, i32, low)
SMALL_LOAD(ds_load_i8_d16_hi, i8, i32, high)
SMALL_LOAD(ds_load_u16_d16, u16, u32, low)
SMALL_LOAD(ds_load_u16_d16_hi, u16, u32, high)
OPERATION(ds_store_b8) { store_small<u8, Part::whole>(w, i, i.source[1], lds_at(w, i)); }
OPERATION(ds_store_b16) { store_small<u16, Part::whole>(w, i, i.source[1], lds_at(w, i)); }
OPERATION(ds_store_b8_d16_hi) { store_small<u8, Part::high>(w, i, i.source[1], lds_at(w, i)); }
OPERATION(ds_store_b16_d16_hi) { store_small<u16, Part::high>(w, i, i.source[1], lds_at(w, i)); }

// Two addresses: OFFSET0 and OFFSET1 in units of the element, or of 64 elements.
template <int count, u32 unit>
ALWAYS_INLINE void load_two(Wave& w, const Instruction& i) {
  const u32 exec = exec_of(w, i);
  if (exec == 0) return;
  w.current = &i;
  const u32 offsets[] = {static_cast<u32>(i.immediate & 0xFF) * unit,
                         static_cast<u32>(i.immediate >> 8 & 0xFF) * unit};
  U32 values[2][count] = {};
  read_dwords<count>(values[0], exec, loaded_from(w, i, offsets[0]));
  read_dwords<count>(values[1], exec, loaded_from(w, i, offsets[1]));
  for (int k = 0; k < 2 * count; ++k) {
    write_row(w, exec, destination_offset(w, i, k), values[k / count][k % count]);
  }
}
template <int count, u32 unit>
ALWAYS_INLINE void store_two(Wave& w, const Instruction& i) {
  store_dwords<count>(w, i, i.source[1], lds_at(w, i, static_cast<u32>(i.immediate & 0xFF) * unit));
  store_dwords<count>(w, i, i.source[2],
                      lds_at(w, i, static_cast<u32>(i.immediate >> 8 & 0xFF) * unit));
}
OPERATION(ds_load_2addr_b32) { load_two<1, 4>(w, i); }
OPERATION(ds_load_2addr_b64) { load_two<2, 8>(w, i); }
OPERATION(ds_load_2addr_stride64_b32) { load_two<1, 4 * 64>(w, i); }
OPERATION(ds_load_2addr_stride64_b64) { load_two<2, 8 * 64>(w, i); }
OPERATION(ds_store_2addr_b32) { store_two<1, 4>(w, i); }
OPERATION(ds_store_2addr_b64) { store_two<2, 8>(w, i); }
OPERATION(ds_store_2addr_stride64_b32) { store_two<1, 4 * 64>(w, i); }
OPERATION(ds_store_2addr_stride64_b64) { store_two<2, 8 * 64>(w, i); }

// gfx950 (CDNA4 ISA, 11.4): of each sixteen lanes, which read four halves each, lane l gets half l
// mod 4 of lanes l / 4, l / 4 + 4, l / 4 + 8 and l / 4 + 12. What inactive lanes do is not known.
FALLIBLE(ds_load_b64_tr_b16) {
  const Instruction& i = *ip;
  w.current = ip;
  constexpr u32 all = ~0U, group = 16, elements = 4;
  if (w.scalar[scalar::exec] != all || w.scalar[scalar::exec + 1] != all) {
    stop(w, ip, WaveFault::unsupported_instruction);
    return false;
  }
  u16 read[64][elements];
  for (u32 lane = 0; lane < 64; ++lane) {
    const u32 half = lane / lanes * static_cast<u32>(sizeof(Row));
    const u32 base = place<u32>(w, i.source[0].value + half + 4 * (lane % lanes));
    const u32 at = base + static_cast<u32>(i.immediate);
    std::memset(read[lane], 0, sizeof read[lane]);
    if (lds_holds(w, at, sizeof read[lane])) {
      std::memcpy(read[lane], w.lds + at, sizeof read[lane]);
    }
  }
  for (u32 lane = 0; lane < 64; ++lane) {
    const u32 first = lane / group * group + lane % group / elements;
    const u32 half = lane / lanes * static_cast<u32>(sizeof(Row));
    for (u32 word = 0; word < 2; ++word) {
      const u32 low = read[first + 8 * word][lane % elements];
      const u32 high = read[first + 8 * word + 4][lane % elements];
      place<u32>(w, i.destination.value + word * w.row_stride + half + 4 * (lane % lanes)) =
          low | high << 16;
    }
  }
  return true;
}

// The address is M0's low half, the offset and four bytes per lane.
ALWAYS_INLINE U32 addtid(const Wave& w, const Instruction& i) {
  const u32 base = (w.scalar[scalar::m0] & 0xFFFF) + static_cast<u32>(i.immediate);
  return (lane_numbers + lanes * i.half) * 4U + base;
}
OPERATION(ds_load_addtid_b32) { load_dwords<1>(w, i, loaded_from(w, addtid(w, i))); }
OPERATION(ds_store_addtid_b32) {
  store_dwords<1>(w, i, i.source[1], GroupLocal{{{w.lds, addtid(w, i)}}, w.lds_reach});
}

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
