// The gfx11 instruction set as data: encodings, opcodes, operand types.
// Source: AMD, "RDNA3 Instruction Set Architecture Reference Guide", chapter 15 (microcode
// formats).
#pragma once

#include <cstdint>
#include <string_view>

namespace cass::rdna3 {

enum class Encoding : std::uint8_t {
  SOP2,
  SOPK,
  SOP1,
  SOPC,
  SOPP,
  SMEM,
  VOP2,
  VOP1,
  VOPC,
  VOP3,
  VOP3SD,
  VOP3P,
  VOPDX,
  VOPDY,
  VINTERP,
  LDSDIR,
  DS,
  FLAT,
  GLOBAL,
  SCRATCH,
  MUBUF,
  MTBUF,
  MIMG,
  EXP,
};
inline constexpr int encoding_count = 24;

// How an operand's bits are read. `pk16`: two 16-bit halves; `mix`: f32 or f16 by op_sel_hi;
// `mask`: one bit a lane in scalar registers; `s32`: a scalar result of a vector instruction.
enum class Type : std::uint8_t {
  none,
  b16,
  i16,
  u16,
  f16,
  pk16,
  mix,
  b32,
  i32,
  u32,
  f32,
  s32,
  mask,
  b64,
  i64,
  u64,
  f64,
  b96,
  b128,
  b160,
  b256,
  b512,
};

// Registers of 32 bits that an operand of this type takes.
constexpr unsigned register_count(Type type) {
  switch (type) {
    case Type::none: return 0;
    case Type::b64:
    case Type::i64:
    case Type::u64:
    case Type::f64: return 2;
    case Type::b96: return 3;
    case Type::b128: return 4;
    case Type::b160: return 5;
    case Type::b256: return 8;
    case Type::b512: return 16;
    default: return 1;
  }
}

constexpr bool is_16_bit(Type type) { return type >= Type::b16 && type <= Type::f16; }
constexpr bool is_64_bit(Type type) { return type >= Type::b64 && type <= Type::f64; }

// Every mnemonic, then what the engine itself inserts into decoded code.
enum class Opcode : std::uint16_t {
#define MNEMONIC(name) name,
#include "tables/mnemonics.inc"
#undef MNEMONIC
  engine_unsupported,      // runs into a fault that names the instruction
  engine_invalid,
  engine_dpp_enter,        // permute source 0 into a temporary, narrow EXEC
  engine_dpp_leave,
  engine_mode_enter,       // set up rounding and denormals of MODE for one instruction
  engine_mode_leave,
  engine_count,            // counters
  engine_add_64,           // v_add_co_u32 and the v_add_co_ci_u32 behind it
  engine_check,            // checking mode
  engine_copy,             // temporary to VGPR, for dual issue
  count,
};
inline constexpr int opcode_count = static_cast<int>(Opcode::count);

std::string_view mnemonic(Opcode opcode);

// A row of tables/opcodes.inc. Memory formats: destination, address, data 0, data 1.
struct OpcodeRow {
  Encoding encoding;
  std::uint16_t number;
  Opcode opcode;
  Type destination;
  Type source[3];
};

// Null where the encoding has no such opcode.
const OpcodeRow* find_row(Encoding encoding, unsigned number);

// Instructions that only order, wait or hint: nothing to do where every instruction completes
// before the next one starts.
bool is_ignorable(Opcode opcode);

}  // namespace cass::rdna3
