#include "isa.hpp"

#include <array>

namespace cass::rdna3 {
namespace {

constexpr OpcodeRow rows[] = {
#define INSTRUCTION(encoding, number, name, destination, s0, s1, s2) \
  {Encoding::encoding, number, Opcode::name, Type::destination, {Type::s0, Type::s1, Type::s2}},
#include "tables/opcodes.inc"
#undef INSTRUCTION
};

constexpr std::string_view names[] = {
#define MNEMONIC(name) #name,
#include "tables/mnemonics.inc"
#undef MNEMONIC
    "unsupported instruction",
    "invalid instruction",
    "dpp_enter",
    "dpp_leave",
    "mode_enter",
    "mode_leave",
    "count",
    "check",
    "copy",
};

constexpr unsigned max_number = 1024;

// Index of the row plus one, by encoding and opcode number.
constexpr auto make_index() {
  std::array<std::uint16_t, encoding_count * max_number> index{};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    index[static_cast<std::size_t>(rows[i].encoding) * max_number + rows[i].number] =
        static_cast<std::uint16_t>(i + 1);
  }
  return index;
}

constexpr auto row_index = make_index();

}  // namespace

std::string_view mnemonic(Opcode opcode) { return names[static_cast<std::size_t>(opcode)]; }

const OpcodeRow* find_row(Encoding encoding, unsigned number) {
  if (number >= max_number) return nullptr;
  const auto at = row_index[static_cast<std::size_t>(encoding) * max_number + number];
  return at == 0 ? nullptr : &rows[at - 1];
}

bool is_ignorable(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_nop:
    case Opcode::s_set_inst_prefetch_distance:
    case Opcode::s_clause:
    case Opcode::s_delay_alu:
    case Opcode::s_waitcnt_depctr:
    case Opcode::s_waitcnt:
    case Opcode::s_wait_idle:
    case Opcode::s_wait_event:
    case Opcode::s_code_end:
    case Opcode::s_wakeup:
    case Opcode::s_setprio:
    case Opcode::s_incperflevel:
    case Opcode::s_decperflevel:
    case Opcode::s_ttracedata:
    case Opcode::s_ttracedata_imm:
    case Opcode::s_icache_inv:
    case Opcode::s_waitcnt_vscnt:
    case Opcode::s_waitcnt_vmcnt:
    case Opcode::s_waitcnt_expcnt:
    case Opcode::s_waitcnt_lgkmcnt:
    case Opcode::s_gl1_inv:
    case Opcode::s_dcache_inv:
    case Opcode::s_atc_probe:
    case Opcode::s_atc_probe_buffer:
    case Opcode::s_cbranch_cdbgsys:
    case Opcode::s_cbranch_cdbguser:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbgsys_and_user:
    case Opcode::v_nop:
    case Opcode::v_pipeflush:
    case Opcode::ds_nop:
    case Opcode::buffer_gl0_inv:
    case Opcode::buffer_gl1_inv: return true;
    default: return false;
  }
}

}  // namespace cass::rdna3
