// The instruction sets as data: encodings, opcodes, operand types.
// Sources: AMD, "RDNA3 Instruction Set Architecture Reference Guide" and that of RDNA4, chapter 15,
// and "AMD Instinct MI300 Instruction Set Architecture Reference Guide" and that of CDNA4, chapter
// 13 (microcode formats).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cass::amdgpu {

// What code objects are made of; gfx11 is RDNA3, gfx90a CDNA2, gfx942 CDNA3, gfx12 RDNA4, gfx950
// CDNA4.
enum class InstructionSet : std::uint8_t { gfx11, gfx90a, gfx942, gfx12, gfx950 };
inline constexpr int instruction_set_count = 5;

// CDNA has its formats from GCN: 64 lanes, accumulation registers, SDWA.
constexpr bool is_gfx9(InstructionSet set) {
  return set == InstructionSet::gfx90a || set == InstructionSet::gfx942 ||
         set == InstructionSet::gfx950;
}

// Bytes of LDS that a workgroup can have.
constexpr std::uint32_t lds_bytes_of(InstructionSet set) {
  return (set == InstructionSet::gfx950 ? 160 : 64) * 1024;
}
inline constexpr std::uint32_t most_lds_bytes = 160 * 1024;
// Bytes of the units in which workgroups are given LDS (LLVM's AMDGPUUsage, GRANULATED_LDS_SIZE).
constexpr std::uint32_t lds_granule_of(InstructionSet set) {
  return set == InstructionSet::gfx950 ? 1280 : 512;
}

std::string_view name_of(InstructionSet set);
// That of a processor ("gfx1100"); empty where the engine does not run its code.
std::optional<InstructionSet> instruction_set_of(std::string_view processor);

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

// How an operand's bits are read. `pk16`, `pk32`: two halves, of an operand of 64 bits two dwords;
// `mix`: f32 or f16 by op_sel_hi; `mask`: one bit a lane in scalar registers; `s32`: a scalar
// result of a vector instruction.
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
  pk32,
  b64,
  i64,
  u64,
  f64,
  b96,
  b128,
  b160,
  b192,
  b256,
  b512,
  b1024,
};

// Registers of 32 bits that an operand of this type takes.
constexpr unsigned register_count(Type type) {
  switch (type) {
    case Type::none: return 0;
    case Type::pk32:
    case Type::b64:
    case Type::i64:
    case Type::u64:
    case Type::f64: return 2;
    case Type::b96: return 3;
    case Type::b128: return 4;
    case Type::b160: return 5;
    case Type::b192: return 6;
    case Type::b256: return 8;
    case Type::b512: return 16;
    case Type::b1024: return 32;
    default: return 1;
  }
}

constexpr bool is_16_bit(Type type) { return type >= Type::b16 && type <= Type::f16; }
constexpr bool is_64_bit(Type type) { return type >= Type::b64 && type <= Type::f64; }

// What instructions do: mostly gfx11's mnemonics (operations.py in isa/gfx9 and isa/gfx12 has those
// of the others), then what the engine itself inserts into decoded code.
enum class Opcode : std::uint16_t {
#define OPERATION_NAME(name) name,
#include "tables/operations.inc"
#undef OPERATION_NAME
  engine_unsupported,  // runs into a fault that names the instruction
  engine_invalid,
  engine_dpp_enter,  // permute source 0 into a temporary, narrow EXEC
  engine_dpp_narrow,  // narrow EXEC in a wave of 64 lanes
  engine_dpp_leave,
  engine_mode_enter,  // set up rounding and denormals of MODE for one instruction
  engine_mode_leave,
  engine_count,  // counters
  engine_add_64,  // v_add_co_u32 and the v_add_co_ci_u32 behind it
  engine_check,  // checking mode
  engine_yield,  // other waves of the workgroup get a turn
  engine_copy,  // temporary to VGPR, for dual issue
  engine_move_indexed,  // gfx9: v_mov_b32 after s_set_gpr_idx_on
  engine_select,  // SDWA: a byte or half of a source to a temporary
  engine_merge,  // SDWA: a result to a byte or half of its register
  count,
};
inline constexpr int opcode_count = static_cast<int>(Opcode::count);

// The operation's name; OpcodeRow::name is how an instruction set spells it.
std::string_view mnemonic(Opcode opcode);

// A row of a table in tables/. Memory formats: destination, address, data 0, data 1.
struct OpcodeRow {
  Encoding encoding;
  std::uint16_t number;
  const char* name;
  Opcode opcode;
  Type destination;
  Type source[3];
};

// Null where the encoding has no such opcode.
const OpcodeRow* find_row(InstructionSet set, Encoding encoding, unsigned number);

// Instructions that only order, wait or hint: nothing to do where every instruction completes
// before the next one starts.
bool is_ignorable(Opcode opcode);

}  // namespace cass::amdgpu
