// Makes decoded machine code executable: operands become offsets into the wave, hints disappear,
// DPP, dual issue and the halves of 64-lane waves become sequences of instructions.
#include <algorithm>
#include <bit>
#include <cstring>

#include "decoder.hpp"
#include "handlers.hpp"
#include "image.hpp"
#include "opcode_facts.hpp"
#include "operands.hpp"
#include "program.hpp"
#include "wave.hpp"

namespace cass::amdgpu {
namespace {

namespace code = source_code;

// What a mnemonic of gfx9 may be inside s_set_gpr_idx_on and s_set_gpr_idx_off.
namespace indexed {
constexpr unsigned source_0 = 1, destination = 8;
}

class Builder {
 public:
  Builder(Program& program, std::span<const std::uint32_t> words)
      : program_(program), words_(words), handlers_(handlers()) {}

  void run() {
    program_.instructions.reserve(words_.size());
    program_.opcodes.reserve(words_.size());
    program_.index_of.assign(words_.size() + 1, Program::no_instruction);
    for (std::size_t at = 0; at < words_.size();) {
      pc_ = static_cast<std::uint32_t>(4 * at);
      program_.index_of[at] = static_cast<std::uint32_t>(program_.instructions.size());
      const auto decoded = decode(program_.set, words_.subspan(at));
      if (!decoded) {
        emit(Opcode::engine_invalid, {});
        ++at;
        continue;
      }
      lower(*decoded);
      at += decoded->size / 4;
    }
    pc_ = static_cast<std::uint32_t>(4 * words_.size());
    program_.index_of[words_.size()] = static_cast<std::uint32_t>(program_.instructions.size());
    emit(Opcode::engine_invalid, {});
    resolve_branches();
    join_sums();
  }

 private:
  void lower(const Decoded& decoded) {
    literal_ = decoded.literal.value_or(0);
    size_ = decoded.size;
    const OpcodeRow& row = *decoded.operation.row;
    if (is_ignorable(row.opcode)) {
      // Nothing to do but to tell the checking mode that the workgroup sees others' writes now.
      if (program_.options.check && acquires(decoded.operation)) check(decoded.operation, {});
      if (program_.options.interleave && waits(row.opcode)) emit(Opcode::engine_yield, {});
      return;
    }
    note_mode(decoded.operation);
    note_indexing(decoded.operation);
    const bool twice =
        program_.options.wide && is_vector(row.encoding) && !once_for_both_halves(row.opcode);
    if (program_.options.count) {
      count(decoded.operation);
      if (decoded.second) count(*decoded.second);
    }
    if (!twice && !decoded.dpp && !decoded.second && !decoded.sdwa) {
      lower_one(decoded);
    } else if (twice && overwrites_source(decoded.operation)) {
      lower_halves(with_kept_sources(decoded), 2);
    } else {
      lower_halves(decoded, twice ? 2 : 1);
    }
  }

  static bool is_scalar_register(const Field& field) {
    return field.present() && field.code < code::integer_first && field.type != Type::mask;
  }
  // Whether the mask that the lower half writes is a scalar that the upper half has still to read.
  static bool overwrites(const Field& mask, const Field& source) {
    return mask.present() && mask.type == Type::mask && is_scalar_register(source) &&
           mask.code >= source.code && mask.code < source.code + register_count(source.type);
  }
  static bool overwrites_source(const Operation& op) {
    return std::ranges::any_of(op.source, [&](const Field& source) {
      return overwrites(op.destination, source) || overwrites(op.scalar_destination, source);
    });
  }
  Decoded with_kept_sources(Decoded decoded) {
    Operation& op = decoded.operation;
    for (unsigned n = 0; n < 3; ++n) {
      Field& source = op.source[n];
      if (!overwrites(op.destination, source) && !overwrites(op.scalar_destination, source)) {
        continue;
      }
      const Field kept = {static_cast<std::uint16_t>(code::kept_first + 2 * n), source.type,
                          source.modifiers};
      Instruction keep;
      keep.source[0] = lower_field({source.code, Type::b64, 0}, false);
      keep.destination = lower_field({kept.code, Type::b64, 0}, true);
      emit(Opcode::s_mov_b64, keep);
      source = kept;
    }
    return decoded;
  }

  void lower_halves(const Decoded& decoded, unsigned halves) {
    if (decoded.dpp) {
      lower_dpp(decoded, halves);
      return;
    }
    for (half_ = 0; half_ < halves; ++half_) {
      if (decoded.second) {
        lower_dual(decoded.operation, *decoded.second);
      } else if (decoded.sdwa) {
        lower_sdwa(decoded);
      } else {
        lower_one(decoded);
      }
    }
    half_ = 0;
  }

  // Where a wave of a card waits for memory, and others run.
  static bool waits(Opcode opcode) {
    switch (opcode) {
      case Opcode::s_waitcnt:
      case Opcode::s_waitcnt_vscnt:
      case Opcode::s_waitcnt_vmcnt:
      case Opcode::s_waitcnt_lgkmcnt:
      case Opcode::s_wait_loadcnt:
      case Opcode::s_wait_storecnt:
      case Opcode::s_wait_dscnt:
      case Opcode::s_wait_loadcnt_dscnt:
      case Opcode::s_wait_storecnt_dscnt:
      case Opcode::buffer_gl0_inv:
      case Opcode::buffer_gl1_inv:
      case Opcode::global_inv: return true;
      default: return false;
    }
  }

  static bool acquires(const Operation& op) {
    const Opcode opcode = op.row->opcode;
    return opcode == Opcode::buffer_gl1_inv ||
           (opcode == Opcode::global_inv && (op.flags & flag::device_scope) != 0);
  }

  void count(const Operation& op) {
    Instruction counting;
    counting.source[0] = lower_field(op.source[0], false);
    counting.immediate = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(op.row));
    emit(Opcode::engine_count, counting);
  }

  void note_mode(const Operation& op) {
    if (op.row->opcode == Opcode::s_round_mode || op.row->opcode == Opcode::s_denorm_mode) {
      program_.changes_mode = true;
    }
    const bool set =
        op.row->opcode == Opcode::s_setreg_b32 || op.row->opcode == Opcode::s_setreg_imm32_b32;
    // Bits 5:0 of SIMM16 name the register (1: MODE), 10:6 the first bit.
    if (set && (op.immediate & 63) == 1 && (op.immediate >> 6 & 31) < 8) {
      program_.changes_mode = true;
    }
  }

  void lower_one(const Decoded& decoded) {
    const Operation& op = decoded.operation;
    Instruction instruction = lower_operation(op);
    if (op.row->encoding == Encoding::MIMG && !lower_image(instruction)) return;
    const bool to_lds = op.row->encoding == Encoding::MUBUF && (op.flags & flag::lds) != 0;
    if (to_lds) return emit(Opcode::engine_unsupported, instruction);
    if (program_.options.check) check(op, instruction);
    if (indexed_ != 0 && is_vector(op.row->encoding)) {
      lower_indexed(op, instruction);
      return;
    }
    emit_with_mode(op, instruction);
    copy_mask(decoded);
  }

  // v_cmpx of gfx9 writes its mask to a scalar register too.
  void copy_mask(const Decoded& decoded) {
    if (!decoded.also_written) return;
    Instruction copy;
    copy.destination = lower_field(*decoded.also_written, true);
    copy.source[0] = lower_field(decoded.operation.destination, false);
    emit(Opcode::s_mov_b32, copy);
  }

  // Only moves: what compilers make of arrays in registers.
  void lower_indexed(const Operation& op, const Instruction& instruction) {
    const bool moves = op.row->opcode == Opcode::v_mov_b32 &&
                       (indexed_ & ~(indexed::source_0 | indexed::destination)) == 0 &&
                       instruction.source[0].kind == OperandKind::vector;
    const bool known =
        moves || (op.row->opcode == Opcode::v_mov_b32 && indexed_ == indexed::destination);
    Instruction indexing = instruction;
    indexing.immediate = indexed_;
    emit(known ? Opcode::engine_move_indexed : Opcode::engine_unsupported, indexing);
  }

  // Both halves read before either writes: a lane's data may come from the other half.
  void lower_dpp(const Decoded& decoded, unsigned halves) {
    const Operation& op = decoded.operation;
    Instruction instructions[2];
    for (half_ = 0; half_ < halves; ++half_) {
      instructions[half_] = lower_operation(op);
      enter_dpp(*decoded.dpp, instructions[half_], op.source[0].type);
      instructions[half_].source[0].value = temporary_offset(half_);
    }
    // v_cmpx writes EXEC itself; lanes that DPP masks off then stay off.
    const bool writes_exec = op.destination.present() && op.destination.code == code::exec_lo;
    for (half_ = 0; half_ < halves; ++half_) {
      if (halves == 2) emit(Opcode::engine_dpp_narrow, {});
      emit_with_mode(op, instructions[half_]);
      if (!writes_exec) emit(Opcode::engine_dpp_leave, {});
      copy_mask(decoded);
    }
    half_ = 0;
  }

  // Sources to temporaries, the operation, and where the result is a part of a register, that part.
  void lower_sdwa(const Decoded& decoded) {
    const Operation& op = decoded.operation;
    const SubDwordControl& sdwa = *decoded.sdwa;
    Instruction instruction = lower_operation(op);
    for (unsigned n = 0; n < 2; ++n) {
      Operand& source = instruction.source[n];
      if (sdwa.source[n] == SubDword::dword || !op.source[n].present()) continue;
      if (register_count(op.source[n].type) != 1) return emit(Opcode::engine_unsupported, {});
      Instruction select;
      select.source[0] = source;
      select.destination.value = temporary_offset(n);
      select.immediate = static_cast<int>(sdwa.source[n]) | (sdwa.extends_sign[n] ? 8 : 0);
      emit(Opcode::engine_select, select);
      source.kind = OperandKind::vector;
      source.value = temporary_offset(n);
    }
    if (sdwa.destination == SubDword::dword || op.destination.type == Type::mask) {
      emit_with_mode(op, instruction);
      copy_mask(decoded);
      return;
    }
    if (accumulates(op.row->opcode) || register_count(op.destination.type) != 1) {
      return emit(Opcode::engine_unsupported, {});
    }
    Instruction merge;
    merge.destination = instruction.destination;
    merge.source[0].kind = OperandKind::vector;
    merge.source[0].value = temporary_offset(2);
    merge.immediate = static_cast<int>(sdwa.destination) | static_cast<int>(sdwa.rest) << 4;
    instruction.destination.value = temporary_offset(2);
    emit_with_mode(op, instruction);
    emit(Opcode::engine_merge, merge);
  }

  // From s_set_gpr_idx_on to s_set_gpr_idx_off, in the order of the code: compilers jump neither in
  // nor out.
  void note_indexing(const Operation& op) {
    const Opcode opcode = op.row->opcode;
    if (opcode == Opcode::s_set_gpr_idx_on || opcode == Opcode::s_set_gpr_idx_mode) {
      indexed_ = static_cast<unsigned>(op.immediate) & 15;
    } else if (opcode == Opcode::s_set_gpr_idx_off) {
      indexed_ = 0;
    }
  }

  // False where the engine has no such form; the instruction is then one that is unsupported.
  bool lower_image(const Instruction& instruction) {
    const auto control = std::bit_cast<ImageControl>(instruction.immediate);
    if (control.kind == ImageKind::unsupported) {
      emit(Opcode::engine_unsupported, instruction);
      return false;
    }
    const unsigned count = address_registers(control);
    for (unsigned k = 1; control.has(ImageControl::separate) && k < std::min(count, 5U); ++k) {
      const unsigned last = control.registers[k - 1] + (k == 4 ? count - 4U : 1U);
      program_.vector_count = std::max(program_.vector_count, last);
    }
    return true;
  }

  void check(const Operation& op, const Instruction& instruction) {
    if (op.row->encoding < Encoding::DS && op.row->encoding != Encoding::SMEM) return;
    Instruction checking = instruction;
    checking.destination = std::bit_cast<Operand>(op.row);
    emit(Opcode::engine_check, checking);
  }

  void enter_mode(const OpcodeRow& row) {
    Instruction instruction;
    // f32 has fields of its own; f16 and f64 share theirs.
    const Type type = is_float(row.source[0]) ? row.source[0] : row.destination;
    const Type result = is_float(row.destination) ? row.destination : type;
    const bool single = result == Type::f32 || result == Type::mix || is_packed_f32(row.opcode);
    instruction.immediate = single ? 0 : 1;
    emit(Opcode::engine_mode_enter, instruction);
  }

  void enter_dpp(const DppControl& dpp, const Instruction& instruction, Type source_type) {
    Instruction enter;
    enter.source[0] = instruction.source[0];
    enter.immediate = dpp.control;
    enter.destination.value = temporary_offset(half_);
    enter.destination.index = static_cast<std::uint16_t>(register_count(source_type));
    enter.destination.modifiers = static_cast<std::uint8_t>(dpp.row_mask | dpp.bank_mask << 4);
    enter.output_scale = dpp.eight ? 1 : 0;
    enter.flags = static_cast<std::uint8_t>((dpp.bound_control ? flag::op_sel_1 : 0) |
                                            (dpp.fetch_inactive ? flag::op_sel_0 : 0));
    emit(Opcode::engine_dpp_enter, enter);
  }

  static bool reads(const Operation& op, const Field& target) {
    for (const Field& field : op.source) {
      if (field.present() && field.code == target.code) return true;
    }
    const bool adds =
        op.row->opcode == Opcode::v_fmac_f32 || op.row->opcode == Opcode::v_dot2acc_f32_f16;
    return adds && op.destination.code == target.code;
  }

  // Both halves read before either writes.
  void lower_dual(const Operation& first, const Operation& second) {
    if (!reads(second, first.destination)) {
      emit_dual(first);
      emit_dual(second);
    } else if (!reads(first, second.destination)) {
      emit_dual(second);
      emit_dual(first);
    } else {
      Instruction delayed = lower_operation(first);
      Instruction copy = delayed;
      // An accumulation reads its own destination: start from a copy of it.
      Instruction save;
      save.source[0] = delayed.destination;
      save.destination = delayed.destination;
      save.destination.value = temporary_offset(1);
      emit(Opcode::engine_copy, save);
      delayed.destination.value = temporary_offset(1);
      emit_with_mode(first, delayed);
      emit_dual(second);
      Instruction restore;
      restore.destination = copy.destination;
      restore.source[0] = save.destination;
      emit(Opcode::engine_copy, restore);
    }
  }

  void emit_dual(const Operation& op) { emit_with_mode(op, lower_operation(op)); }

  void emit_with_mode(const Operation& op, const Instruction& instruction) {
    const bool mode = program_.options.special_mode && depends_on_mode(*op.row);
    if (mode) enter_mode(*op.row);
    emit(op.row->opcode, instruction);
    if (mode) emit(Opcode::engine_mode_leave, {});
  }

  Instruction lower_operation(const Operation& op) {
    Instruction instruction;
    if (op.destination.present()) instruction.destination = lower_field(op.destination, true);
    for (int i = 0; i < 4; ++i) {
      if (op.source[i].present()) instruction.source[i] = lower_field(op.source[i], false);
    }
    if (op.scalar_destination.present()) {
      instruction.source[3] = lower_field(op.scalar_destination, true);
    }
    instruction.immediate = op.immediate;
    instruction.output_scale = op.output_scale;
    instruction.flags = op.flags;
    if (op.row->opcode == Opcode::s_getpc_b64 || op.row->opcode == Opcode::s_swappc_b64) {
      instruction.immediate = static_cast<std::int64_t>(program_.base + pc_ + size_);
    }
    return instruction;
  }

  Operand lower_field(const Field& field, bool written) {
    program_.vector_count = std::max(program_.vector_count, vector_registers(field));
    return lower_operand(field, written, {program_.options.wide, half_, literal_});
  }

  void emit(Opcode opcode, const Instruction& lowered) {
    Instruction& instruction = program_.instructions.emplace_back(lowered);
    instruction.pc = pc_;
    instruction.half = static_cast<std::uint8_t>(half_);
    instruction.size = size_;
    instruction.handler = handlers_[opcode];
    if (instruction.handler == nullptr) instruction.handler = handlers_[Opcode::engine_unsupported];
    program_.opcodes.push_back(opcode);
  }

  void resolve_branches() {
    const Instruction* end = &program_.instructions.back();
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      if (!is_branch(program_.opcodes[i])) continue;
      Instruction& branch = program_.instructions[i];
      const std::int64_t target = std::int64_t{branch.pc} + 4 + 4 * branch.immediate;
      branch.target = end;
      if (target >= 0 && target < static_cast<std::int64_t>(program_.size)) {
        const std::uint32_t index = program_.index_of[static_cast<std::size_t>(target / 4)];
        if (index != Program::no_instruction) branch.target = &program_.instructions[index];
      }
    }
  }

  // A 64-bit sum takes two instructions: the first one's handler does both. The second stays, for
  // branches to it.
  void join_sums() {
    for (std::size_t i = 0; i + 1 < program_.instructions.size(); ++i) {
      if (program_.opcodes[i] != Opcode::v_add_co_u32) continue;
      if (program_.opcodes[i + 1] != Opcode::v_add_co_ci_u32) continue;
      Instruction& low = program_.instructions[i];
      const Instruction& high = program_.instructions[i + 1];
      const bool takes_carry =
          high.source[2].kind == OperandKind::scalar && high.source[2].value == low.source[3].value;
      if (takes_carry && low.half == high.half && ((low.flags | high.flags) & flag::clamp) == 0) {
        low.handler = handlers_[Opcode::engine_add_64];
      }
    }
  }

  Program& program_;
  std::span<const std::uint32_t> words_;
  const HandlerSet& handlers_;
  std::uint32_t pc_ = 0;
  std::uint32_t literal_ = 0;
  std::uint8_t size_ = 4;
  unsigned half_ = 0;
  unsigned indexed_ = 0;  // operands that M0 is added to, as s_set_gpr_idx_on names them
};

}  // namespace

void build_program(Program& program, std::span<const std::uint32_t> code, std::uint64_t base) {
  program.base = base;
  program.words = code;
  program.size = 4 * code.size();
  Builder(program, code).run();
}

}  // namespace cass::amdgpu
