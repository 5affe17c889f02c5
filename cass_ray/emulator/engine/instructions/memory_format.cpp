// Buffer loads and stores that convert to or from a format (RDNA3 ISA, 16.12 MUBUF with the format
// of the resource, 16.13 MTBUF with a format of its own).
#include "../image.hpp"

#include "buffer_address.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

constexpr unsigned typed_format_shift = 32;  // of MTBUF, in Instruction::immediate
constexpr u32 no_format = 0;
constexpr unsigned identity_selects = 4 | 5 << 3 | 6 << 6 | 7 << 9;

struct Shape {
  unsigned count;
  bool store;
  bool short_data = false;
  bool high = false;
};

ALWAYS_INLINE bool access(Wave& w, const Instruction& i, const Shape& shape) {
  const u32* words = &place<u32>(w, i.source[2].value);
  const auto own = static_cast<unsigned>(i.immediate >> typed_format_shift) & 0x7F;
  // One byte: what a format's texel takes beyond it is checked by index where there is a stride.
  const BufferLanes at = buffer_lanes(w, i, 1);
  alignas(64) u64 addresses[lanes];
  std::memcpy(addresses, &at.at.address, sizeof addresses);
  w.current = &i;
  return access_formatted(w, i,
                          {.active = exec_of(w, i),
                           .inside = at.inside,
                           .addresses = addresses,
                           .code = own != no_format ? own : words[3] >> 12 & 0x3F,
                           .selects = own != no_format ? identity_selects : words[3] & 0xFFF,
                           .count = shape.count,
                           .store = shape.store,
                           .short_data = shape.short_data,
                           .high = shape.high});
}

#define FORMATTED(opcode_name, ...)                      \
  FALLIBLE(opcode_name) {                                \
    if (access(w, *ip, Shape{__VA_ARGS__})) return true; \
    stop(w, ip, WaveFault::unsupported_instruction);     \
    return false;                                        \
  }
#define FORMATTED_BY_COUNT(prefix, suffix, ...)      \
  FORMATTED(prefix##_##suffix##_x, 1, __VA_ARGS__)   \
  FORMATTED(prefix##_##suffix##_xy, 2, __VA_ARGS__)  \
  FORMATTED(prefix##_##suffix##_xyz, 3, __VA_ARGS__) \
  FORMATTED(prefix##_##suffix##_xyzw, 4, __VA_ARGS__)
FORMATTED_BY_COUNT(buffer, load_format, false)
FORMATTED_BY_COUNT(buffer, store_format, true)
FORMATTED_BY_COUNT(buffer, load_d16_format, false, true)
FORMATTED_BY_COUNT(buffer, store_d16_format, true, true)
FORMATTED(buffer_load_d16_hi_format_x, 1, false, true, true)
FORMATTED(buffer_store_d16_hi_format_x, 1, true, true, true)
FORMATTED_BY_COUNT(tbuffer, load_format, false)
FORMATTED_BY_COUNT(tbuffer, store_format, true)
FORMATTED_BY_COUNT(tbuffer, load_d16_format, false, true)
FORMATTED_BY_COUNT(tbuffer, store_d16_format, true, true)

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
