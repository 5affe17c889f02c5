// What is known of a program once it is built: texts, and what an entry may reach.
#include "program.hpp"

#include "decoder.hpp"
#include "handlers.hpp"
#include "opcode_facts.hpp"

namespace cass::amdgpu {
namespace {

// A trap ends a wave, and may be the last of a kernel's code; only a debugger's lets it go on.
bool ends_in_trap(Opcode opcode, const Instruction& instruction) {
  constexpr int debug = 3;
  return opcode == Opcode::s_trap && (instruction.immediate & 0xFF) != debug;
}

}  // namespace

std::span<const std::uint32_t> Program::words_at(std::uint32_t pc) const {
  return words.subspan(pc / 4);
}

std::string Program::text_at(std::uint32_t pc) const {
  if (pc >= size) return "end of the code";
  const auto decoded = decode(set, words_at(pc));
  if (decoded) return to_text(*decoded);
  char text[32];
  std::snprintf(text, sizeof text, ".long 0x%08x", words_at(pc)[0]);
  return text;
}

const Instruction* Program::first_unsupported(std::uint64_t entry) const {
  return reach(entry).unsupported;
}

std::size_t Program::reachable_count(std::uint64_t entry) const { return reach(entry).count; }

const Program::Reach& Program::reach(std::uint64_t entry) const {
  const std::lock_guard lock(mutex_);
  const auto known = reached_.find(entry);
  if (known != reached_.end()) return known->second;

  const HandlerSet& set = handlers();
  std::vector<bool> seen(instructions.size());
  std::vector<std::uint32_t> pending{index_of[entry / 4]};
  bool follows_pointers = false;
  const Instruction* found = nullptr;
  while (!pending.empty() && found == nullptr) {
    std::uint32_t at = pending.back();
    pending.pop_back();
    // Nothing needs to stand behind the call of a function that does not return, as a failed
    // assertion. A wave that comes to the end of the code stops there.
    bool called = false;
    while (at < instructions.size() && !seen[at]) {
      seen[at] = true;
      const Opcode opcode = opcodes[at];
      if (opcode == Opcode::engine_invalid && instructions[at].pc >= size && called) break;
      if (set[opcode] == nullptr || opcode == Opcode::engine_invalid ||
          opcode == Opcode::engine_unsupported) {
        found = &instructions[at];
        break;
      }
      if (is_branch(opcode)) {
        pending.push_back(
            static_cast<std::uint32_t>(instructions[at].target - instructions.data()));
      }
      called = opcode == Opcode::s_swappc_b64;
      const bool calls = called || opcode == Opcode::s_setpc_b64;
      if (calls && !follows_pointers) {
        follows_pointers = true;
        for (const std::uint64_t function : functions) {
          if (function < size && index_of[function / 4] != no_instruction) {
            pending.push_back(index_of[function / 4]);
          }
        }
      }
      if (opcode == Opcode::s_branch || opcode == Opcode::s_setpc_b64 ||
          opcode == Opcode::s_endpgm || opcode == Opcode::s_endpgm_saved ||
          ends_in_trap(opcode, instructions[at])) {
        break;
      }
      ++at;
    }
  }
  Reach result{found, 0};
  std::uint32_t last = no_instruction;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    // What one machine instruction became counts once.
    if (seen[k] && instructions[k].pc != last) ++result.count;
    if (seen[k]) last = instructions[k].pc;
  }
  return reached_.emplace(entry, result).first->second;
}

}  // namespace cass::amdgpu
