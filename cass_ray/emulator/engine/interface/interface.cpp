// The engine's C interface for Python: coverage, decoding, and the execution of single
// instructions on given registers.
#include <cstdio>
#include <cstring>
#include <string>

#include "../decoder.hpp"
#include "../device_memory.hpp"
#include "../handlers.hpp"
#include "../isa.hpp"
#include "../program.hpp"
#include "../wave.hpp"
#include "../workgroup.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace cass::amdgpu;

// What a test sets and reads. Matches the ctypes structure in tests/emulator.
struct Machine {
  std::uint32_t scalar[128];
  std::uint32_t scc;
  std::uint32_t mode;
  std::uint32_t vector[512][64];  // lanes 32..63 only in waves of 64; 256 up: accumulation
  std::uint8_t lds[65536];
  std::uint32_t wide;
  std::uint32_t fault;
  std::uint32_t set;  // InstructionSet
};
constexpr unsigned registers = 512;

std::size_t put(const std::string& text, char* out, std::size_t size) {
  if (size != 0) {
    const std::size_t count = std::min(text.size(), size - 1);
    std::memcpy(out, text.data(), count);
    out[count] = 0;
  }
  return text.size();
}

void load(const Machine& machine, Wave& wave) {
  std::memcpy(wave.scalar, machine.scalar, sizeof machine.scalar);
  wave.scalar[scalar::scc] = machine.scc;
  wave.mode = machine.mode | (wave.mode & wave.fixed_mode);
  for (unsigned index = 0; index < registers; ++index) {
    for (unsigned half = 0; half < (wave.wide ? 2U : 1U); ++half) {
      std::memcpy(&vector_row(wave, index, half), machine.vector[index] + lanes * half,
                  sizeof(Row));
    }
  }
}

void store(Wave& wave, Machine& machine) {
  std::memcpy(machine.scalar, wave.scalar, sizeof machine.scalar);
  machine.scc = wave.scalar[scalar::scc];
  machine.mode = wave.mode & ~wave.fixed_mode;
  for (unsigned index = 0; index < registers; ++index) {
    for (unsigned half = 0; half < (wave.wide ? 2U : 1U); ++half) {
      std::memcpy(machine.vector[index] + lanes * half, &vector_row(wave, index, half),
                  sizeof(Row));
    }
  }
}

}  // namespace

// Lines "mnemonic encoding state", state being "covered", "ignored" or "unsupported".
EXPORT std::size_t cass_emulator_coverage(unsigned set, char* out, std::size_t size) {
  static constexpr const char* encodings[] = {
      "SOP2", "SOPK", "SOP1",   "SOPC",    "SOPP",  "SMEM",  "VOP2",    "VOP1",
      "VOPC", "VOP3", "VOP3SD", "VOP3P",   "VOPDX", "VOPDY", "VINTERP", "LDSDIR",
      "DS",   "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "MIMG",    "EXP"};
  std::string text;
  for (int encoding = 0; encoding < encoding_count; ++encoding) {
    for (unsigned number = 0; number < 1024; ++number) {
      const OpcodeRow* row =
          find_row(static_cast<InstructionSet>(set), static_cast<Encoding>(encoding), number);
      if (row == nullptr) continue;
      const char* state = is_ignorable(row->opcode)            ? "ignored"
                          : handlers()[row->opcode] != nullptr ? "covered"
                                                               : "unsupported";
      text += std::string(row->name) + " " + encodings[encoding] + " " + state + "\n";
    }
  }
  return put(text, out, size);
}

EXPORT const char* cass_emulator_level() { return handlers().level.data(); }

// The text of the instruction at the start of `words` and, as result, its size in bytes; 0: none.
EXPORT unsigned cass_emulator_decode(unsigned set, const std::uint32_t* words, std::size_t count,
                                     char* out, std::size_t size) {
  const auto decoded = decode(static_cast<InstructionSet>(set), {words, count});
  if (!decoded) return 0;
  put(to_text(*decoded), out, size);
  return decoded->size;
}

// Memory that instructions can use, zero-filled, until the end of the process; null if there is
// none.
EXPORT std::byte* cass_emulator_memory(std::size_t size) {
  return DeviceMemory::instance().allocate(size);
}

// Runs `count` dwords of code, which must end in s_endpgm, as one wave on the machine's registers.
// False where an instruction is not supported or invalid. Machine::fault: WaveFault of a fault.
EXPORT bool cass_emulator_execute(const std::uint32_t* words, std::size_t count, Machine* machine) {
  ProgramOptions options;
  options.wide = machine->wide != 0;
  options.special_mode = (machine->mode & 0xFF) != mode::usual;
  Program program;
  program.set = static_cast<InstructionSet>(machine->set);
  program.options = options;
  build_program(program, {words, count}, reinterpret_cast<std::uint64_t>(words));
  if (program.changes_mode && !options.special_mode) {
    Program again;
    options.special_mode = true;
    program.instructions.clear();
    program.opcodes.clear();
    program.options = options;
    build_program(program, {words, count}, reinterpret_cast<std::uint64_t>(words));
  }
  if (program.first_unsupported(0) != nullptr) return false;
  program.vector_count = registers;
  Kernel kernel;
  Launch launch;
  LaunchState state;
  static std::uint64_t serial = std::uint64_t{1} << 63;
  state.serial = ++serial;
  state.launch = &launch;
  state.kernel = &kernel;
  state.program = &program;
  state.entry = program.instructions.data();
  state.wide = options.wide;
  state.wave_count = 1;
  state.workgroup_count = 1;
  state.scratch_stride = 1024;
  state.lds_bytes = sizeof machine->lds;
  state.mode = machine->mode;
  set_fixed_mode(state);
  state.work_item_ids.resize(2);
  state.active.assign(2, ~0U);
  static Workgroup group;
  group.adopt(state);
  group.start(0);
  Wave& wave = group.wave(0);
  load(*machine, wave);
  std::memcpy(group.lds.data(), machine->lds, sizeof machine->lds);
  Outcome outcome = Outcome::preempted;
  for (int share = 0; share < 100 && outcome == Outcome::preempted; ++share)
    outcome = group.advance();
  store(wave, *machine);
  std::memcpy(machine->lds, group.lds.data(), sizeof machine->lds);
  machine->fault = outcome == Outcome::finished ? 0 : static_cast<std::uint32_t>(wave.fault) + 100U;
  return true;
}
