// Machine code to fields: what an instruction is, before it is made executable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "instruction.hpp"
#include "isa.hpp"

namespace cass::amdgpu {

// Codes of the 9-bit source field (RDNA3 ISA, table 1): SGPRs 0..105 and so on, VGPRs 256..511.
// gfx9's are the same but for M0, which its decoder renames. Accumulation registers follow at 512.
namespace source_code {
inline constexpr unsigned vcc_lo = 106;
inline constexpr unsigned null = 124;
inline constexpr unsigned m0 = 125;
inline constexpr unsigned exec_lo = 126;
inline constexpr unsigned exec_hi = 127;
inline constexpr unsigned integer_first = 128;
inline constexpr unsigned integer_last = 208;
inline constexpr unsigned kept_first = 210;  // the engine's own: see scalar::kept
inline constexpr unsigned kept_last = 217;
inline constexpr unsigned dpp8 = 233;
inline constexpr unsigned dpp8_fetch_inactive = 234;
inline constexpr unsigned aperture_first = 235;
inline constexpr unsigned aperture_last = 238;
inline constexpr unsigned pops_exiting_wave_id = 239;  // graphics only
inline constexpr unsigned float_first = 240;
inline constexpr unsigned float_last = 248;
inline constexpr unsigned sdwa = 249;  // gfx9
inline constexpr unsigned dpp16 = 250;
inline constexpr unsigned vccz = 251;
inline constexpr unsigned execz = 252;
inline constexpr unsigned scc = 253;
inline constexpr unsigned lds_direct = 254;
inline constexpr unsigned literal = 255;
inline constexpr unsigned vector_first = 256;
inline constexpr unsigned accumulator_first = 512;
}  // namespace source_code

struct Field {
  std::uint16_t code = 0;        // source_code
  Type type = Type::none;
  std::uint8_t modifiers = 0;    // namespace modifier
  bool present() const { return type != Type::none; }
};

// Data-parallel primitive on source 0 (RDNA3 ISA, 7.7; MI300 ISA, 12.1): the second dword.
struct DppControl {
  bool eight = false;            // DPP8: `control` holds eight selects of 3 bits
  std::uint32_t control = 0;     // DPP16: dpp_ctrl
  std::uint8_t row_mask = 0xF;
  std::uint8_t bank_mask = 0xF;
  bool bound_control = false;    // invalid lanes read 0
  bool fetch_inactive = false;
};

// The part of a register that SDWA reads or writes (MI300 ISA, 13.3.8).
enum class SubDword : std::uint8_t { byte_0, byte_1, byte_2, byte_3, word_0, word_1, dword };

// What a part of a register as destination does to the rest of it.
enum class RestOfDword : std::uint8_t { zero, sign, preserve };

// Sub-dword addressing of VOP1, VOP2 and VOPC: the second dword.
struct SubDwordControl {
  SubDword destination = SubDword::dword;
  RestOfDword rest = RestOfDword::zero;
  SubDword source[2] = {SubDword::dword, SubDword::dword};
  bool extends_sign[2] = {};
};

struct Operation {
  const OpcodeRow* row = nullptr;
  Field destination;
  Field scalar_destination;      // VOP3SD, carry of VOP2
  Field source[4];               // as Instruction::source
  std::int64_t immediate = 0;    // offsets, SIMM16 sign-extended, hardware register, ...
  std::uint8_t output_scale = 0;
  std::uint8_t flags = 0;
};

struct Decoded {
  InstructionSet set = InstructionSet::gfx11;
  Operation operation;
  std::optional<Operation> second;  // VOPD: executes at the same time
  std::optional<DppControl> dpp;
  std::optional<SubDwordControl> sdwa;
  std::optional<Field> also_written;  // v_cmpx of gfx9: the mask goes to EXEC and to this
  std::optional<std::uint32_t> literal;
  std::uint8_t size = 4;            // bytes
};

// The instruction at the start of `words`. Empty where it is none (reserved encoding or opcode,
// or cut short); `words` then holds data.
std::optional<Decoded> decode(InstructionSet set, std::span<const std::uint32_t> words);

// Mnemonic and operands in LLVM's spelling, without modifiers that only matter to hardware timing.
// `pc`: address of the instruction, for branch targets.
std::string to_text(const Decoded& decoded);

}  // namespace cass::amdgpu
