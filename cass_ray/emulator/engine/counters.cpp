#include "counters.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "program.hpp"
#include "settings.hpp"
#include "workgroup.hpp"

namespace cass::amdgpu {
namespace {

constexpr unsigned lds_banks = 32;

struct KernelCounts {
  std::uint64_t launches = 0;
  std::uint64_t workgroups = 0;
  std::uint64_t waves = 0;
  std::uint64_t work_items = 0;
  std::uint64_t code_size = 0;  // dwords that hold instructions of the kernel
  Counters counters;
};

struct Totals {
  std::mutex mutex;
  std::map<std::string, KernelCounts> kernels;
};

Totals& totals() {
  static auto* all = new Totals;  // exit handlers use it
  return *all;
}

// ---- classes of instructions

enum class Class : std::uint8_t {
  scalar,
  scalar_memory,
  control,
  barrier,
  vector_integer,
  vector_float,
  vector_double,
  matrix,
  global_memory,
  scratch,
  lds,
  atomic,
  count,
};
constexpr const char* class_names[] = {
    "scalar",         "scalar_memory", "control",       "barrier",
    "vector_integer", "vector_float",  "vector_double", "matrix",
    "global_memory",  "scratch",       "lds",           "atomic",
};

const OpcodeRow* row_of(Opcode opcode) {
  static const auto rows = [] {
    std::array<const OpcodeRow*, opcode_count> found{};
    for (int set = instruction_set_count - 1; set >= 0; --set) {
      for (int encoding = 0; encoding < encoding_count; ++encoding) {
        for (unsigned number = 0; number < 1024; ++number) {
          const OpcodeRow* row =
              find_row(static_cast<InstructionSet>(set), static_cast<Encoding>(encoding), number);
          if (row != nullptr) found[static_cast<unsigned>(row->opcode)] = row;
        }
      }
    }
    return found;
  }();
  return rows[static_cast<unsigned>(opcode)];
}

bool is_atomic(const OpcodeRow& row) {
  const std::string_view name = mnemonic(row.opcode);
  if (row.encoding == Encoding::DS) {
    return !name.starts_with("ds_load") && !name.starts_with("ds_store") &&
           name.find("permute") == std::string_view::npos && !name.starts_with("ds_swizzle");
  }
  return name.find("_atomic_") != std::string_view::npos;
}

Class vector_class(const OpcodeRow& row) {
  const std::string_view name = mnemonic(row.opcode);
  if (name.find("wmma") != std::string_view::npos || name.find("mfma") != std::string_view::npos) {
    return Class::matrix;
  }
  const Type types[] = {row.destination, row.source[0], row.source[1]};
  const auto has = [&types](Type type) {
    return std::ranges::find(types, type) != std::end(types);
  };
  if (has(Type::f64)) return Class::vector_double;
  const bool floating = has(Type::f32) || has(Type::f16) || has(Type::pk16) || has(Type::mix);
  return floating ? Class::vector_float : Class::vector_integer;
}

Class class_of(const OpcodeRow& row) {
  switch (row.encoding) {
    case Encoding::SMEM: return Class::scalar_memory;
    case Encoding::SOPP: {
      const bool waits = row.opcode == Opcode::s_barrier || row.opcode == Opcode::s_barrier_wait;
      return waits ? Class::barrier : Class::control;
    }
    case Encoding::SOP2:
    case Encoding::SOPK:
    case Encoding::SOP1:
    case Encoding::SOPC: return Class::scalar;
    case Encoding::DS: return is_atomic(row) ? Class::atomic : Class::lds;
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::MUBUF:
    case Encoding::MTBUF:
    case Encoding::MIMG: return is_atomic(row) ? Class::atomic : Class::global_memory;
    case Encoding::SCRATCH: return Class::scratch;
    default: return vector_class(row);
  }
}

// Bytes that a lane (a wave, for scalar loads) moves.
unsigned bytes_of(const OpcodeRow& row) {
  const std::string_view name = mnemonic(row.opcode);
  if (name.ends_with("8") || name.ends_with("8_d16") || name.ends_with("8_d16_hi")) return 1;
  if (name.ends_with("16") || name.ends_with("16_d16") || name.ends_with("16_d16_hi")) {
    return name.ends_with("d16_hi_b16") || name.find("16") != std::string_view::npos ? 2 : 4;
  }
  const Type data = row.destination != Type::none ? row.destination : row.source[1];
  return 4 * (register_count(data) + register_count(row.source[2]) * (data == row.source[1]));
}

// ---- JSON

void add_field(std::string& text, const char* name, std::uint64_t value) {
  text +=
      std::string(text.back() == '{' ? "" : ", ") + "\"" + name + "\": " + std::to_string(value);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    // Names come from untrusted files: one that is no text in JSON stays recognisable.
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code >= 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
      out += escape;
      continue;
    }
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + "\"";
}

struct Traffic {
  std::uint64_t global_loaded = 0, global_stored = 0, lds_loaded = 0, lds_stored = 0;
  std::uint64_t scalar_loaded = 0, scratch = 0;
};

void add_traffic(Traffic& traffic, const OpcodeRow& row, const Counters& counters) {
  const auto index = static_cast<unsigned>(row.opcode);
  const std::uint64_t bytes = counters.lanes[index] * bytes_of(row);
  const bool store = mnemonic(row.opcode).find("store") != std::string_view::npos;
  switch (class_of(row)) {
    case Class::scalar_memory:
      traffic.scalar_loaded += counters.executed[index] * bytes_of(row);
      break;
    case Class::global_memory:
      (store ? traffic.global_stored : traffic.global_loaded) += bytes;
      break;
    case Class::lds: (store ? traffic.lds_stored : traffic.lds_loaded) += bytes; break;
    case Class::scratch: traffic.scratch += bytes; break;
    default: break;
  }
}

std::string kernel_json(const std::string& name, const KernelCounts& kernel) {
  const Counters& counters = kernel.counters;
  std::uint64_t by_class[static_cast<unsigned>(Class::count)] = {};
  std::uint64_t total = 0, vector = 0, vector_lanes = 0;
  Traffic traffic;
  std::string opcodes = "{";
  for (unsigned index = 0; index < opcode_count; ++index) {
    const OpcodeRow* row = row_of(static_cast<Opcode>(index));
    if (row == nullptr || counters.executed[index] == 0) continue;
    const std::uint64_t executed = counters.executed[index];
    by_class[static_cast<unsigned>(class_of(*row))] += executed;
    total += executed;
    if (class_of(*row) >= Class::vector_integer) {
      vector += executed;
      vector_lanes += counters.lanes[index];
    }
    add_traffic(traffic, *row, counters);
    add_field(opcodes, std::string(mnemonic(row->opcode)).c_str(), executed);
  }
  std::string text = "{\"kernel\": " + quoted(name);
  add_field(text, "launches", kernel.launches);
  add_field(text, "workgroups", kernel.workgroups);
  add_field(text, "waves", kernel.waves);
  add_field(text, "work_items", kernel.work_items);
  add_field(text, "instructions", total);
  std::string classes = "{";
  for (unsigned k = 0; k < static_cast<unsigned>(Class::count); ++k) {
    add_field(classes, class_names[k], by_class[k]);
  }
  text += ", \"by_class\": " + classes + "}";
  std::string bytes = "{";
  add_field(bytes, "global_loaded", traffic.global_loaded);
  add_field(bytes, "global_stored", traffic.global_stored);
  add_field(bytes, "lds_loaded", traffic.lds_loaded);
  add_field(bytes, "lds_stored", traffic.lds_stored);
  add_field(bytes, "scalar_loaded", traffic.scalar_loaded);
  add_field(bytes, "scratch", traffic.scratch);
  text += ", \"bytes\": " + bytes + "}";
  add_field(text, "lds_conflict_cycles", counters.lds_conflicts);
  std::string divergence = "{";
  add_field(divergence, "vector_instructions", vector);
  add_field(divergence, "with_inactive_lanes", counters.partial);
  add_field(divergence, "active_lanes", vector_lanes);
  text += ", \"divergence\": " + divergence + "}";
  std::string coverage = "{";
  add_field(coverage, "reached",
            static_cast<std::uint64_t>(std::ranges::count(counters.reached, 1)));
  add_field(coverage, "of", kernel.code_size);
  text += ", \"instruction_coverage\": " + coverage + "}";
  return text + ", \"by_mnemonic\": " + opcodes + "}}";
}

}  // namespace

bool counting() { return settings().count; }

void count_instruction(Wave& wave, const Instruction* counted) {
  Counters& counters = *wave.workgroup->counters;
  const auto* row = reinterpret_cast<const OpcodeRow*>(counted->immediate);
  const auto index = static_cast<unsigned>(row->opcode);
  const std::uint32_t low = wave.scalar[scalar::exec];
  const std::uint32_t high = wave.wide ? wave.scalar[scalar::exec + 1] : 0;
  const auto active = static_cast<unsigned>(std::popcount(low) + std::popcount(high));
  ++counters.executed[index];
  counters.lanes[index] += active;
  counters.reached[counted->pc / 4] = 1;
  if (row->encoding >= Encoding::VOP2) counters.partial += active != (wave.wide ? 64U : 32U);
  if (row->encoding != Encoding::DS || row->source[0] == Type::none) return;
  // Lanes that use one bank at different addresses take turns.
  const auto& address = *reinterpret_cast<const Row*>(reinterpret_cast<const std::byte*>(&wave) +
                                                      counted->source[0].value);
  std::array<std::uint32_t, lds_banks> first;
  std::array<std::uint8_t, lds_banks> turns{};
  for (std::uint32_t rest = low; rest != 0; rest &= rest - 1) {
    const std::uint32_t word = address.lane[std::countr_zero(rest)] / 4;
    const std::uint32_t bank = word % lds_banks;
    if (turns[bank] == 0 || first[bank] != word) ++turns[bank];
    first[bank] = word;
  }
  const unsigned most = *std::ranges::max_element(turns);
  counters.lds_conflicts += most > 1 ? most - 1 : 0;
}

void count_workgroup(Workgroup& group) {
  const LaunchState& state = *group.launch;
  Counters& own = *group.counters;
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  KernelCounts& kernel = all.kernels[state.kernel->name];
  const auto& block = state.launch->block_threads;
  ++kernel.workgroups;
  kernel.waves += group.wave_count;
  kernel.work_items += std::uint64_t{block[0]} * block[1] * block[2];
  Counters& sum = kernel.counters;
  for (unsigned k = 0; k < opcode_count; ++k) {
    sum.executed[k] += own.executed[k];
    sum.lanes[k] += own.lanes[k];
  }
  sum.partial += own.partial;
  sum.lds_conflicts += own.lds_conflicts;
  sum.reached.resize(std::max(sum.reached.size(), own.reached.size()));
  for (std::size_t k = 0; k < own.reached.size(); ++k) sum.reached[k] |= own.reached[k];
  const std::size_t dwords = own.reached.size();
  own = Counters();
  own.reached.resize(dwords);
}

void count_launch(const LaunchState& state) {
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  KernelCounts& kernel = all.kernels[state.kernel->name];
  ++kernel.launches;
  kernel.code_size = state.program->reachable_count(state.kernel->entry - state.program->base);
}

std::string counters_text() {
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  std::string text = "{\"kernels\": [";
  const char* separator = "";
  for (const auto& [name, kernel] : all.kernels) {
    text += separator + kernel_json(name, kernel);
    separator = ",\n ";
  }
  return text + "]}\n";
}

}  // namespace cass::amdgpu
