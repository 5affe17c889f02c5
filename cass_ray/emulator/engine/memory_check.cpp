#include "memory_check.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "code_object.hpp"
#include "memory_registry.hpp"
#include "workgroup.hpp"

namespace cass::amdgpu {
namespace {

constexpr std::size_t max_reports = 64;

// What an instruction does at each address.
struct Access {
  const OpcodeRow* row = nullptr;
  unsigned size = 4;     // bytes a lane and address
  bool reads = false;
  bool writes = false;
  bool atomic = false;
};

class Reports {
 public:
  static Reports& instance() {
    static auto* reports = new Reports;
    return *reports;
  }

  // Each kind once per instruction.
  void add(Fault fault, bool stopping) {
    const std::lock_guard lock(mutex_);
    if (stopping) stopping_ = fault;
    if (reports_.size() >= max_reports || !seen_.emplace(fault.kernel, fault.pc, fault.kind).second)
      return;
    if (!stopping) reports_.push_back(std::move(fault));
  }

  std::vector<Fault> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reports_, {});
  }

  Fault take_stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }

 private:
  std::mutex mutex_;
  std::vector<Fault> reports_;
  std::set<std::tuple<std::string, std::uint64_t, FaultKind>> seen_;
  Fault stopping_;
};

unsigned element_size(std::string_view name, const OpcodeRow& row) {
  if (name.find("_u8") != std::string_view::npos || name.find("_i8") != std::string_view::npos ||
      name.find("_b8") != std::string_view::npos) {
    return 1;
  }
  const bool sixteen = name.find("_u16") != std::string_view::npos ||
                       name.find("_i16") != std::string_view::npos ||
                       name.find("_b16") != std::string_view::npos;
  if (sixteen) return 2;
  if (name.find("2addr") != std::string_view::npos) return name.ends_with("b64") ? 8 : 4;
  const Type data = row.destination != Type::none ? row.destination : row.source[1];
  return 4 * std::max(register_count(data), 1U);
}

Access access_of(const OpcodeRow& row) {
  const std::string_view name = mnemonic(row.opcode);
  Access access;
  access.row = &row;
  access.size = element_size(name, row);
  const bool load = name.find("load") != std::string_view::npos;
  const bool store = name.find("_store") != std::string_view::npos &&
                     name.find("storexchg") == std::string_view::npos;
  access.atomic = !load && !store;
  access.reads = load || access.atomic;
  access.writes = store || access.atomic;
  return access;
}

// Not memory: lanes through the crossbar, barriers, cache control.
bool touches_memory(const OpcodeRow& row) {
  const std::string_view name = mnemonic(row.opcode);
  return name.find("permute") == std::string_view::npos && !name.starts_with("ds_swizzle") &&
         !name.starts_with("ds_gws") && name.find("_inv") == std::string_view::npos &&
         row.encoding != Encoding::MUBUF && row.encoding != Encoding::MTBUF &&
         row.encoding != Encoding::MIMG && row.encoding != Encoding::SCRATCH &&
         name.find("addtid") == std::string_view::npos && !name.starts_with("ds_append") &&
         !name.starts_with("ds_consume") && !name.starts_with("s_buffer");
}

class Checker {
 public:
  Checker(Wave& wave, const Instruction& instruction)
      : wave_(wave),
        instruction_(instruction),
        access_(access_of(*std::bit_cast<const OpcodeRow*>(instruction.destination))),
        group_(*wave.workgroup) {}

  bool run() {
    const Opcode opcode = access_.row->opcode;
    if (opcode == Opcode::buffer_gl1_inv || opcode == Opcode::global_inv) {
      group_.shadow->acquired = true;
    }
    if (!touches_memory(*access_.row)) return true;
    const Encoding encoding = access_.row->encoding;
    const bool returns = (instruction_.flags & flag::returns) != 0;
    if (access_.atomic && returns && encoding != Encoding::DS) group_.shadow->acquired = true;
    if (encoding == Encoding::SMEM) return scalar_load();
    const std::uint32_t exec = wave_.scalar[scalar::exec + instruction_.half];
    for (std::uint32_t rest = exec; rest != 0; rest &= rest - 1) {
      lane_ = static_cast<unsigned>(std::countr_zero(rest));
      if (!(encoding == Encoding::DS ? lds_access() : global_access())) return false;
    }
    return true;
  }

 private:
  std::uint32_t word(const Operand& operand, unsigned lane, unsigned number) const {
    const auto* base = reinterpret_cast<const std::byte*>(&wave_);
    std::uint32_t value = operand.value;
    if (operand.kind == OperandKind::vector) {
      std::memcpy(&value, base + operand.value + number * wave_.row_stride + 4 * lane, 4);
    } else if (operand.kind == OperandKind::scalar) {
      std::memcpy(&value, base + operand.value + 4 * number, 4);
    }
    return value;
  }

  std::uint64_t wide(const Operand& operand) const {
    return word(operand, lane_, 0) | std::uint64_t{word(operand, lane_, 1)} << 32;
  }

  bool scalar_load() {
    const std::uint64_t address = wide(instruction_.source[0]) +
                                  static_cast<std::uint64_t>(instruction_.immediate) +
                                  word(instruction_.source[1], 0, 0);
    return global_range(address & ~std::uint64_t{3});
  }

  bool global_access() {
    const Operand& base = instruction_.source[3];
    std::uint64_t address = static_cast<std::uint64_t>(instruction_.immediate);
    if (base.kind == OperandKind::scalar) {
      address += wide(base) + word(instruction_.source[0], lane_, 0);
    } else {
      address += wide(instruction_.source[0]);
    }
    const auto lds = reinterpret_cast<std::uint64_t>(wave_.lds);
    if (address >> 32 == lds >> 32) return lds_range(static_cast<std::uint32_t>(address));
    if (address >> 32 == private_aperture_high) return true;
    if (!global_range(address)) return false;
    if (access_.writes) check_global_writers(address);
    return true;
  }

  // Two workgroups write different values to one place, and the second has neither an acquire fence
  // at device scope (buffer_gl1_inv) nor an atomic operation with a result behind it: which value
  // stays is chance. Equal values are a common and harmless way to set a flag. It is a warning: an
  // algorithm that repeats until nothing changes may let chance decide. So is a plain write among
  // atomic operations of others, which may undo one of them.
  void check_global_writers(std::uint64_t address) {
    const unsigned unit = std::min(access_.size, 4U);
    const bool upper = mnemonic(access_.row->opcode).find("d16_hi") != std::string_view::npos;
    for (unsigned number = 0; number * unit < access_.size; ++number) {
      const std::uint64_t at = address + number * unit;
      const auto before = group_.launch->writers->exchange(at, {group_.flat_id, access_.atomic});
      if (before.group == group_.flat_id || group_.shadow->acquired) continue;
      if (access_.atomic && before.atomic) continue;
      if (access_.atomic || before.atomic) {
        report(FaultKind::unordered_writes,
               described() + " of global memory that workgroup " + std::to_string(before.group) +
                   " has written in this launch: one of them is no atomic operation",
               at, false);
        return;
      }
      const std::uint32_t value = word(instruction_.source[1], lane_, number) >> (upper ? 16 : 0);
      if (std::memcmp(&value, std::bit_cast<const void*>(at), unit) == 0) continue;
      report(FaultKind::unordered_writes,
             described() + " of global memory that workgroup " + std::to_string(before.group) +
                 " has written in this launch: another value, no atomic operation, nothing between "
                 "them",
             at, false);
      return;
    }
  }

  bool lds_access() {
    const std::uint32_t address = word(instruction_.source[0], lane_, 0);
    const auto offset = static_cast<std::uint32_t>(instruction_.immediate);
    const std::string_view name = mnemonic(access_.row->opcode);
    if (name.find("2addr") == std::string_view::npos) return lds_range(address + offset);
    const std::uint32_t unit =
        access_.size * (name.find("stride64") != std::string_view::npos ? 64 : 1);
    return lds_range(address + (offset & 0xFF) * unit) && lds_range(address + (offset >> 8) * unit);
  }

  // What the launch itself provides.
  bool is_internal(std::uint64_t address) const {
    const LaunchState& state = *group_.launch;
    // By its first byte: scalar loads may be wider than what remains of the arguments.
    const auto inside = [address](const void* start, std::size_t size) {
      const auto first = reinterpret_cast<std::uint64_t>(start);
      return address >= first && address < first + size;
    };
    const CodeObject::Content& content = state.kernel->code_object->content();
    return inside(state.launch->kernarg.data(), state.launch->kernarg.size()) ||
           inside(state.block.get(), offsetof(LaunchBlock, kernarg)) ||
           inside(content.image, content.image_size);
  }

  bool global_range(std::uint64_t address) {
    check_alignment(address);
    MemoryRegistry& registry = MemoryRegistry::instance();
    const std::shared_lock lock(registry.mutex);
    MemoryRegistry::Allocation* allocation = registry.find(address);
    if (allocation == nullptr || !allocation->contains(address, access_.size)) {
      if (is_internal(address)) return true;
      return report(FaultKind::out_of_bounds, outside(registry, allocation, address), address,
                    true);
    }
    if (allocation->freed) {
      return report(FaultKind::use_after_free,
                    described() + " of memory that has been freed (an allocation of " +
                        std::to_string(allocation->size) + " bytes)",
                    address, true);
    }
    return check_initialized(*allocation, address);
  }

  bool check_initialized(MemoryRegistry::Allocation& allocation, std::uint64_t address) {
    std::vector<bool>& initialized = allocation.initialized;
    if (initialized.empty()) return true;
    const std::uint64_t first = address - allocation.start;
    for (std::uint64_t at = first; at < first + access_.size; ++at) {
      if (access_.reads && !initialized[at]) {
        report(FaultKind::uninitialized_read,
               "read of device memory that nothing has written (byte " + std::to_string(at) +
                   " of an allocation of " + std::to_string(allocation.size) + ")",
               address, false);
        break;
      }
    }
    // Unlocked: in checking mode one thread runs all workgroups.
    if (access_.writes) {
      for (std::uint64_t at = first; at < first + access_.size; ++at) initialized[at] = true;
    }
    return true;
  }

  std::string outside(const MemoryRegistry& registry, const MemoryRegistry::Allocation* holding,
                      std::uint64_t address) const {
    const MemoryRegistry::Allocation* near =
        holding != nullptr ? holding : registry.nearest(address);
    std::string text = described() + " outside every allocation";
    if (near == nullptr) return text;
    const std::uint64_t end = near->start + near->size;
    const std::uint64_t last = address + access_.size;
    const bool beyond = last > end;
    const std::uint64_t distance =
        beyond ? (address > end ? address - end : 0) : near->start - address;
    if (distance > (std::uint64_t{1} << 20)) return text;
    return described() + ", " + std::to_string(distance) + " bytes " +
           (beyond ? "past the end of" : "before the start of") + " an allocation of " +
           std::to_string(near->size) + " bytes";
  }

  bool lds_range(std::uint32_t address) {
    check_alignment(address);
    if (address > wave_.lds_size || access_.size > wave_.lds_size - address) {
      return report(FaultKind::out_of_bounds,
                    described() + " at byte " + std::to_string(address) +
                        " of LDS; the workgroup has " + std::to_string(wave_.lds_size) + " bytes",
                    address, true);
    }
    LdsShadow& shadow = *group_.shadow;
    for (std::uint32_t at = address; at < address + access_.size; ++at) {
      LdsShadow::Byte& byte = shadow.bytes[at];
      check_race(byte, address);
      if (access_.reads && !byte.initialized) {
        report(FaultKind::uninitialized_read,
               "read of LDS that the workgroup has not written (byte " + std::to_string(at) + ")",
               address, false);
        byte.initialized = true;
      }
      note(byte);
    }
    return true;
  }

  void check_race(const LdsShadow::Byte& byte, std::uint32_t address) {
    const std::uint32_t epoch = group_.shadow->epoch;
    const bool written = byte.write_epoch == epoch && byte.writer != wave_.index;
    const bool read = byte.read_epoch == epoch && byte.reader != wave_.index;
    if (written && !(access_.atomic && byte.atomic)) {
      report(FaultKind::data_race,
             described() + " of LDS byte " + std::to_string(address) + " that wave " +
                 std::to_string(byte.writer) + " has written since the last barrier",
             address, false);
    } else if (read && access_.writes && !access_.atomic) {
      report(FaultKind::data_race,
             "write of LDS byte " + std::to_string(address) +
                 " that another wave has read since the last barrier",
             address, false);
    }
  }

  void note(LdsShadow::Byte& byte) {
    const std::uint32_t epoch = group_.shadow->epoch;
    if (access_.writes) {
      // An atomic operation after a plain write, with no barrier between them, does not hide it.
      const bool plain = byte.write_epoch == epoch && !byte.atomic;
      byte.write_epoch = epoch;
      byte.writer = wave_.index;
      byte.initialized = true;
      byte.atomic = access_.atomic && !plain;
    }
    if (access_.reads && !access_.atomic) {
      const bool shared = byte.read_epoch == epoch && byte.reader != wave_.index;
      byte.reader = shared ? LdsShadow::many_readers : wave_.index;
      byte.read_epoch = epoch;
    }
  }

  void check_alignment(std::uint64_t address) {
    // Plain accesses may be unaligned (the ABI's alignment mode); compilers make use of it.
    if (!access_.atomic || address % access_.size == 0) return;
    report(FaultKind::misaligned_access,
           described() + " at an address that is not a multiple of " + std::to_string(access_.size),
           address, false);
  }

  std::string described() const {
    const char* what = access_.atomic ? "atomic operation" : access_.writes ? "write" : "read";
    return std::string(what) + " of " + std::to_string(access_.size) + " bytes";
  }

  // Returns whether the wave may go on.
  bool report(FaultKind kind, std::string message, std::uint64_t address, bool stopping) {
    const LaunchState& state = *group_.launch;
    Fault fault;
    fault.kind = kind;
    fault.kernel = state.kernel->name;
    fault.message = std::move(message);
    fault.pc = state.kernel->code_object->content().code_offset + instruction_.pc;
    fault.instruction = state.program->text_at(instruction_.pc);
    fault.workgroup = group_.id;
    fault.lane = wave_.index * state.kernel->wave_size + lane_ + lanes * instruction_.half;
    fault.address = address;
    Reports::instance().add(std::move(fault), stopping);
    return !stopping;
  }

  Wave& wave_;
  const Instruction& instruction_;
  const Access access_;
  Workgroup& group_;
  unsigned lane_ = 0;
};

}  // namespace

std::vector<Fault> take_reports() { return Reports::instance().take(); }
Fault take_stopping_report() { return Reports::instance().take_stopping(); }

GlobalWriters::Writer GlobalWriters::exchange(std::uint64_t address, Writer writer) {
  return std::exchange(writers_.try_emplace(address, writer).first->second, writer);
}

void LdsShadow::reset(std::size_t size) {
  bytes.assign(size, Byte());
  epoch = 1;
  acquired = false;
}

bool check_access(Wave& wave, const Instruction* checked) { return Checker(wave, *checked).run(); }

void check_barrier(Workgroup& group) {
  ++group.shadow->epoch;
  const Instruction* first = nullptr;
  for (unsigned index = 0; index < group.wave_count; ++index) {
    const Wave& wave = group.wave(index);
    if (wave.state != WaveState::at_barrier) continue;
    if (first == nullptr) first = wave.next;
    if (wave.next == first) continue;
    const LaunchState& state = *group.launch;
    Fault fault;
    fault.kind = FaultKind::barrier_divergence;
    fault.kernel = state.kernel->name;
    fault.message = "waves of one workgroup wait at different barriers";
    fault.pc = state.kernel->code_object->content().code_offset + wave.next->pc;
    fault.instruction = "s_barrier";
    fault.workgroup = group.id;
    fault.lane = index * state.kernel->wave_size;
    Reports::instance().add(std::move(fault), false);
    return;
  }
}

}  // namespace cass::amdgpu
