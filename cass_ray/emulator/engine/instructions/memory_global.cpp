// Loads and stores of global, flat and scratch memory (RDNA3 ISA, 16.15 FLAT, chapter 11).
#include "memory_address.hpp"

#include "../program.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

// With a scalar base the lanes' offsets are 32 bits wide, else their addresses 64.
#define GLOBAL(name, action)                       \
  OPERATION(global_##name) {                       \
    if (i.source[3].kind == OperandKind::scalar) { \
      const Narrow at = global_offsets(w, i);      \
      action;                                      \
    } else {                                       \
      const Split at = global_addresses(w, i);     \
      action;                                      \
    }                                              \
  }
#define FLAT(name, action)                     \
  OPERATION(flat_##name) {                     \
    const Contained at = flat_addresses(w, i); \
    action;                                    \
  }
#define SCRATCH(name, action)                      \
  FALLIBLE(scratch_##name) {                       \
    Local at;                                      \
    if (!scratch_offsets(w, ip, at)) return false; \
    const Instruction& i = *ip;                    \
    action;                                        \
    return true;                                   \
  }
#define ALL_THREE(name, action) GLOBAL(name, action) FLAT(name, action) SCRATCH(name, action)

#define LOADS(OF)                                                                   \
  OF(load_b32, (load_dwords<1>(w, i, at)))                                          \
  OF(load_b64, (load_dwords<2>(w, i, at)))                                          \
  OF(load_b96, (load_dwords<3>(w, i, at)))                                          \
  OF(load_b128, (load_dwords<4>(w, i, at)))                                         \
  OF(load_u8, (load_small<u8, u32, Part::whole>(w, i, at)))                         \
  OF(load_i8, (load_small<std::int8_t, std::int32_t, Part::whole>(w, i, at)))       \
  OF(load_u16, (load_small<u16, u32, Part::whole>(w, i, at)))                       \
  OF(load_i16, (load_small<std::int16_t, std::int32_t, Part::whole>(w, i, at)))     \
  OF(load_d16_u8, (load_small<u8, u32, Part::low>(w, i, at)))                       \
  OF(load_d16_i8, (load_small<std::int8_t, std::int32_t, Part::low>(w, i, at)))     \
  OF(load_d16_b16, (load_small<u16, u32, Part::low>(w, i, at)))                     \
  OF(load_d16_hi_u8, (load_small<u8, u32, Part::high>(w, i, at)))                   \
  OF(load_d16_hi_i8, (load_small<std::int8_t, std::int32_t, Part::high>(w, i, at))) \
  OF(load_d16_hi_b16, (load_small<u16, u32, Part::high>(w, i, at)))
#define STORES(OF)                                                          \
  OF(store_b32, (store_dwords<1>(w, i, i.source[1], at)))                   \
  OF(store_b64, (store_dwords<2>(w, i, i.source[1], at)))                   \
  OF(store_b96, (store_dwords<3>(w, i, i.source[1], at)))                   \
  OF(store_b128, (store_dwords<4>(w, i, i.source[1], at)))                  \
  OF(store_b8, (store_small<u8, Part::whole>(w, i, i.source[1], at)))       \
  OF(store_b16, (store_small<u16, Part::whole>(w, i, i.source[1], at)))     \
  OF(store_d16_hi_b8, (store_small<u8, Part::high>(w, i, i.source[1], at))) \
  OF(store_d16_hi_b16, (store_small<u16, Part::high>(w, i, i.source[1], at)))

LOADS(ALL_THREE)
STORES(ALL_THREE)

// To LDS: a dword a lane from M0's low half on (gfx950 has 18 bits of LDS addresses), in the order
// of the wave's lanes (MI300 ISA, 9.1.9). The instruction's offset counts for both addresses. LDS
// addresses have 32 bits: what lies outside LDS, below it too, stays in its 4 GiB and is a fault.
template <class Memory, class Register>
ALWAYS_INLINE void load_to_lds(Wave& w, const Instruction& i) {
  w.current = &i;
  const Wide at = any_global_addresses(w, i);
  require(exec_of(w, i), at, sizeof(Memory));
  const AddressList from = listed(at.address);
  constexpr u32 bytes = sizeof(Register);
  const u32 address_bits = w.program->set == InstructionSet::gfx950 ? 0x3FFFF : 0xFFFF;
  const u32 to = (w.scalar[scalar::m0] & address_bits) + static_cast<u32>(i.immediate) +
                 bytes * lanes * i.half;
  for_active_lanes(exec_of(w, i), [&](int lane) {
    Memory value;
    std::memcpy(&value, reinterpret_cast<const void*>(from.lane[lane]), sizeof value);
    const auto kept = static_cast<Register>(value);
    std::memcpy(w.lds + (to + bytes * static_cast<u32>(lane)), &kept, sizeof kept);
  });
}
OPERATION(global_load_lds_dword) { load_to_lds<u32, u32>(w, i); }
OPERATION(global_load_lds_ubyte) { load_to_lds<u8, u32>(w, i); }
OPERATION(global_load_lds_sbyte) { load_to_lds<std::int8_t, std::int32_t>(w, i); }
OPERATION(global_load_lds_ushort) { load_to_lds<u16, u32>(w, i); }
OPERATION(global_load_lds_sshort) { load_to_lds<std::int16_t, std::int32_t>(w, i); }
// gfx950: several dwords a lane, those of a lane together.
template <unsigned words>
struct Dwords {
  u32 word[words];
};
OPERATION(global_load_lds_dwordx3) { load_to_lds<Dwords<3>, Dwords<3>>(w, i); }
OPERATION(global_load_lds_dwordx4) { load_to_lds<Dwords<4>, Dwords<4>>(w, i); }

// The lane's number times four is part of the address.
ALWAYS_INLINE Wide addtid_addresses(Wave& w, const Instruction& i) {
  const u64 base = i.source[3].kind == OperandKind::scalar ? scalar_u64(w, i.source[3]) : 0;
  const U32 lane = (lane_numbers + lanes * i.half) * 4U;
  return {convert<U64>(lane) + (base + static_cast<u64>(i.immediate))};
}
OPERATION(global_load_addtid_b32) { load_dwords<1>(w, i, addtid_addresses(w, i)); }
OPERATION(global_store_addtid_b32) { store_dwords<1>(w, i, i.source[1], addtid_addresses(w, i)); }

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
