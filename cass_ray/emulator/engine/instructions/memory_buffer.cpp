// Untyped buffer loads and stores (RDNA3 ISA, 16.12 MUBUF, chapter 9).
#include "buffer_address.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

// Loads beyond the bounds give zero.
#define BUFFER_LOAD(name, size, count, action)           \
  OPERATION(buffer_##name) {                             \
    const u32 active = exec_of(w, i);                    \
    within_bounds(w, i, size, [&](const Contained& at) { \
      action;                                            \
      const u32 outside = active & ~exec_of(w, i);       \
      if (outside == 0) return;                          \
      for (int k = 0; k < count; ++k) {                  \
        U32& row = destination_row(w, i, k);             \
        row = select(lanes_of(outside), (U32)0U, row);   \
      }                                                  \
    });                                                  \
  }
// A half of the register: the other one stays also beyond the bounds.
#define BUFFER_LOAD_HALF(name, size, action)                         \
  OPERATION(buffer_##name) {                                         \
    within_bounds(w, i, size, [&](const Contained& at) { action; }); \
  }
#define BUFFER_STORE(name, size, action)                             \
  OPERATION(buffer_##name) {                                         \
    within_bounds(w, i, size, [&](const Contained& at) { action; }); \
  }
BUFFER_LOAD(load_b32, 4, 1, (load_dwords<1>(w, i, at)))
BUFFER_LOAD(load_b64, 8, 2, (load_dwords<2>(w, i, at)))
BUFFER_LOAD(load_b96, 12, 3, (load_dwords<3>(w, i, at)))
BUFFER_LOAD(load_b128, 16, 4, (load_dwords<4>(w, i, at)))
BUFFER_LOAD(load_u8, 1, 1, (load_small<u8, u32, Part::whole>(w, i, at)))
BUFFER_LOAD(load_i8, 1, 1, (load_small<std::int8_t, std::int32_t, Part::whole>(w, i, at)))
BUFFER_LOAD(load_u16, 2, 1, (load_small<u16, u32, Part::whole>(w, i, at)))
BUFFER_LOAD(load_i16, 2, 1, (load_small<std::int16_t, std::int32_t, Part::whole>(w, i, at)))
BUFFER_LOAD_HALF(load_d16_u8, 1, (load_small<u8, u32, Part::low>(w, i, at)))
BUFFER_LOAD_HALF(load_d16_i8, 1, (load_small<std::int8_t, std::int32_t, Part::low>(w, i, at)))
BUFFER_LOAD_HALF(load_d16_b16, 2, (load_small<u16, u32, Part::low>(w, i, at)))
BUFFER_LOAD_HALF(load_d16_hi_u8, 1, (load_small<u8, u32, Part::high>(w, i, at)))
BUFFER_LOAD_HALF(load_d16_hi_i8, 1, (load_small<std::int8_t, std::int32_t, Part::high>(w, i, at)))
BUFFER_LOAD_HALF(load_d16_hi_b16, 2, (load_small<u16, u32, Part::high>(w, i, at)))
BUFFER_STORE(store_b32, 4, (store_dwords<1>(w, i, i.source[1], at)))
BUFFER_STORE(store_b64, 8, (store_dwords<2>(w, i, i.source[1], at)))
BUFFER_STORE(store_b96, 12, (store_dwords<3>(w, i, i.source[1], at)))
BUFFER_STORE(store_b128, 16, (store_dwords<4>(w, i, i.source[1], at)))
BUFFER_STORE(store_b8, 1, (store_small<u8, Part::whole>(w, i, i.source[1], at)))
BUFFER_STORE(store_b16, 2, (store_small<u16, Part::whole>(w, i, i.source[1], at)))
BUFFER_STORE(store_d16_hi_b8, 1, (store_small<u8, Part::high>(w, i, i.source[1], at)))
BUFFER_STORE(store_d16_hi_b16, 2, (store_small<u16, Part::high>(w, i, i.source[1], at)))

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
