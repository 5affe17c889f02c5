// Executable form of a code object's machine code.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "instruction.hpp"
#include "isa.hpp"

namespace cass::amdgpu {

struct ProgramOptions {
  bool wide = false;          // waves of 64 lanes
  bool special_mode = false;  // rounding or denormal mode differs from the usual, or changes
  bool count = false;
  bool check = false;
  bool interleave = false;  // the same for all programs of a process
  unsigned key() const { return wide | special_mode << 1 | count << 2 | check << 3; }
};

struct Program {
  InstructionSet set = InstructionSet::gfx11;
  ProgramOptions options;
  std::uint64_t base = 0;      // address of the code
  std::span<const std::uint32_t> words;  // the code
  std::uint64_t size = 0;      // bytes
  std::vector<Instruction> instructions;  // the last one is an invalid one
  std::vector<Opcode> opcodes;            // of each
  std::vector<std::uint32_t> index_of;    // by dword of the code; no_instruction inside others
  std::vector<std::uint64_t> functions;   // pcs of functions that may be called indirectly
  unsigned vector_count = 0;              // VGPRs in use
  bool changes_mode = false;              // writes the rounding or denormal fields of MODE

  static constexpr std::uint32_t no_instruction = ~0U;

  // The instruction at a host address; null where there is none.
  const Instruction* at(std::uint64_t address) const {
    const std::uint64_t offset = address - base;
    if (offset >= size || offset % 4 != 0) return nullptr;
    const std::uint32_t index = index_of[offset / 4];
    return index == no_instruction ? nullptr : &instructions[index];
  }

  // The first instruction that cannot be executed among those that `entry` (a pc) may reach.
  const Instruction* first_unsupported(std::uint64_t entry) const;

  // Machine instructions that `entry` may reach, hints not counted.
  std::size_t reachable_count(std::uint64_t entry) const;

  // What the instruction at `pc` is, from the machine code.
  std::string text_at(std::uint32_t pc) const;

  std::span<const std::uint32_t> words_at(std::uint32_t pc) const;

 private:
  struct Reach {
    const Instruction* unsupported = nullptr;
    std::size_t count = 0;
  };
  const Reach& reach(std::uint64_t entry) const;

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, Reach> reached_;
};

// Decodes `code`, which kernels see at the address `base`, for the handlers of this CPU. It
// outlives the program.
void build_program(Program& program, std::span<const std::uint32_t> code, std::uint64_t base);

}  // namespace cass::amdgpu
