// A pre-decoded instruction: what a handler gets. One cache line.
#pragma once

#include <cstdint>

namespace cass::amdgpu {

struct Wave;
struct Instruction;

// Does one instruction for 32 lanes and goes on to the next one by a tail call.
using Handler = void (*)(Wave&, const Instruction*);

enum class OperandKind : std::uint8_t {
  none,
  vector,               // value: byte offset of the register's 32 lanes from the wave
  scalar,               // value: byte offset of the register from the wave
  constant,             // value: the bits; 64-bit operands: zero-extended
  constant_sign,        // 64-bit operands: sign-extended
  constant_high,        // 64-bit operands: the high half, the low half zero (f64)
  constant_inverse_2pi, // 64-bit operands: the f64 1 / (2 pi)
};

namespace modifier {
inline constexpr std::uint8_t negate = 1;
inline constexpr std::uint8_t absolute = 2;
inline constexpr std::uint8_t high = 4;        // op_sel: the high half of a 16-bit operand
inline constexpr std::uint8_t negate_high = 8; // VOP3P neg_hi
inline constexpr std::uint8_t select_high = 16; // VOP3P op_sel_hi
inline constexpr std::uint8_t clears_high = 32;  // 16-bit results of gfx9: the other half becomes 0
}  // namespace modifier

struct Operand {
  OperandKind kind = OperandKind::none;
  std::uint8_t modifiers = 0;
  std::uint16_t index = 0;  // register number, for text and relative addressing
  std::uint32_t value = 0;
};

namespace flag {
inline constexpr std::uint8_t returns = 1;  // atomics: GLC, the old value is wanted
inline constexpr std::uint8_t offen = 2;  // buffers: offset in a VGPR
inline constexpr std::uint8_t idxen = 4;  // buffers: index in a VGPR
inline constexpr std::uint8_t op_sel_0 = 8;  // v_permlane16: fetch inactive, bound control
inline constexpr std::uint8_t op_sel_1 = 16;
inline constexpr std::uint8_t clamp = 32;
inline constexpr std::uint8_t dpp_row_reads_inactive = 64;
inline constexpr std::uint8_t gds = 128;
inline constexpr std::uint8_t lds = 128;  // buffers: the data go to LDS
inline constexpr std::uint8_t device_scope = 128;  // global_inv: others' writes are seen after it
}  // namespace flag

struct Instruction {
  Handler handler = nullptr;
  Operand destination;
  // Memory: address, data 0, data 1 / buffer resource, scalar base or offset.
  // Carry-outs and v_div_scale: the scalar destination is source[3].
  Operand source[4];
  union {
    std::int64_t immediate = 0;
    const Instruction* target;  // branches
  };
  std::uint32_t pc = 0;  // bytes from the start of the code section
  std::uint8_t half = 0;  // of a 64-lane wave: 0 or 1; selects EXEC's half
  std::uint8_t output_scale = 0;  // omod: 0 none, 1 x2, 2 x4, 3 /2
  std::uint8_t flags = 0;
  std::uint8_t size = 4;  // bytes of machine code, for return addresses
};

static_assert(sizeof(Instruction) == 64);

}  // namespace cass::amdgpu
