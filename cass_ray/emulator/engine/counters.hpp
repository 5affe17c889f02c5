// Dynamic counts per kernel (Settings::count): what was executed, never time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "instruction.hpp"
#include "isa.hpp"

namespace cass::amdgpu {

struct LaunchState;
struct Wave;
struct Workgroup;

struct Counters {
  std::array<std::uint64_t, opcode_count> executed{};  // by waves
  std::array<std::uint64_t, opcode_count> lanes{};  // active lanes, summed over executions
  std::uint64_t partial = 0;  // vector instructions with fewer lanes than the wave has
  std::uint64_t lds_conflicts = 0;  // extra cycles for accesses to one bank
  std::vector<std::uint8_t> reached;  // by dword of the code
};

bool counting();

// Before each instruction; `counted` carries its row and, for LDS, its address operand.
void count_instruction(Wave& wave, const Instruction* counted);

// Adds the workgroup's counts to its kernel's.
void count_workgroup(Workgroup& group);
void count_launch(const LaunchState& state);

// All counts so far: JSON, an object of one line for each kernel.
std::string counters_text();

}  // namespace cass::amdgpu
