#include "isa.hpp"

#include <array>
#include <span>

namespace cass::amdgpu {
namespace {

#define INSTRUCTION(encoding, number, name, operation, destination, s0, s1, s2) \
  {Encoding::encoding,                                                          \
   number,                                                                      \
   #name,                                                                       \
   Opcode::operation,                                                           \
   Type::destination,                                                           \
   {Type::s0, Type::s1, Type::s2}},
constexpr OpcodeRow gfx11_rows[] = {
#include "tables/gfx11.inc"
};
constexpr OpcodeRow gfx90a_rows[] = {
#include "tables/gfx90a.inc"
};
constexpr OpcodeRow gfx942_rows[] = {
#include "tables/gfx942.inc"
};
constexpr OpcodeRow gfx950_rows[] = {
#include "tables/gfx950.inc"
};
constexpr OpcodeRow gfx12_rows[] = {
#include "tables/gfx12.inc"
};
#undef INSTRUCTION

constexpr std::string_view names[] = {
#define OPERATION_NAME(name) #name,
#include "tables/operations.inc"
#undef OPERATION_NAME
    "unsupported instruction",
    "invalid instruction",
    "dpp_enter",
    "dpp_narrow",
    "dpp_leave",
    "mode_enter",
    "mode_leave",
    "count",
    "add_64",
    "check",
    "copy",
    "move_indexed",
    "select",
    "merge",
};

constexpr unsigned max_number = 1024;

// Index of the row plus one, by encoding and opcode number.
using Index = std::array<std::uint16_t, encoding_count * max_number>;

constexpr Index make_index(std::span<const OpcodeRow> rows) {
  Index index{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    index[static_cast<std::size_t>(rows[i].encoding) * max_number + rows[i].number] =
        static_cast<std::uint16_t>(i + 1);
  }
  return index;
}

struct Table {
  std::span<const OpcodeRow> rows;
  Index index;
};
constexpr Table tables[] = {
    {gfx11_rows, make_index(gfx11_rows)},   {gfx90a_rows, make_index(gfx90a_rows)},
    {gfx942_rows, make_index(gfx942_rows)}, {gfx12_rows, make_index(gfx12_rows)},
    {gfx950_rows, make_index(gfx950_rows)},
};
static_assert(std::size(tables) == instruction_set_count);

}  // namespace

std::string_view mnemonic(Opcode opcode) { return names[static_cast<std::size_t>(opcode)]; }

const OpcodeRow* find_row(InstructionSet set, Encoding encoding, unsigned number) {
  if (number >= max_number) return nullptr;
  const Table& table = tables[static_cast<std::size_t>(set)];
  const auto at = table.index[static_cast<std::size_t>(encoding) * max_number + number];
  return at == 0 ? nullptr : &table.rows[at - 1];
}

std::string_view name_of(InstructionSet set) {
  constexpr std::string_view set_names[] = {"gfx11", "gfx90a", "gfx942", "gfx12", "gfx950"};
  return set_names[static_cast<std::size_t>(set)];
}

std::optional<InstructionSet> instruction_set_of(std::string_view processor) {
  if (processor.starts_with("gfx11")) return InstructionSet::gfx11;
  if (processor == "gfx90a") return InstructionSet::gfx90a;
  // What gfx942 and gfx950 have in common.
  if (processor == "gfx942" || processor == "gfx9-4-generic") return InstructionSet::gfx942;
  if (processor == "gfx950") return InstructionSet::gfx950;
  if (processor.starts_with("gfx120") || processor == "gfx12-generic") {
    return InstructionSet::gfx12;
  }
  return std::nullopt;
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
    case Opcode::v_clrexcp:
    case Opcode::v_pipeflush:
    case Opcode::ds_nop:
    case Opcode::buffer_gl0_inv:
    case Opcode::buffer_gl1_inv:
    case Opcode::global_inv:
    case Opcode::s_wait_loadcnt:
    case Opcode::s_wait_storecnt:
    case Opcode::s_wait_samplecnt:
    case Opcode::s_wait_bvhcnt:
    case Opcode::s_wait_expcnt:
    case Opcode::s_wait_dscnt:
    case Opcode::s_wait_kmcnt:
    case Opcode::s_wait_loadcnt_dscnt:
    case Opcode::s_wait_storecnt_dscnt:
    case Opcode::s_prefetch_inst:
    case Opcode::s_prefetch_inst_pc_rel:
    case Opcode::s_prefetch_data:
    case Opcode::s_prefetch_data_pc_rel:
    case Opcode::s_buffer_prefetch_data: return true;
    default: return false;
  }
}

}  // namespace cass::amdgpu
