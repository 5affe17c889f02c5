#include "launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "code_object.hpp"
#include "counters.hpp"
#include "device_memory.hpp"
#include "handlers.hpp"
#include "hidden_arguments.hpp"
#include "launch_block.hpp"
#include "memory_check.hpp"
#include "settings.hpp"

namespace cass::amdgpu {
namespace {

constexpr std::uint32_t max_block_threads = 1024;
constexpr std::uint32_t default_stack = 16 * 1024;     // bytes per lane, kernels that need one
constexpr std::uint32_t max_scratch = 8 * 1024 * 1024; // bytes per lane

Fault refuse(const Launch& launch, std::string message) {
  Fault fault;
  fault.kind = FaultKind::invalid_launch;
  fault.kernel = launch.kernel != nullptr ? launch.kernel->name : "";
  fault.message = std::move(message);
  return fault;
}

std::optional<Fault> check_sizes(const Launch& launch) {
  const Kernel& kernel = *launch.kernel;
  std::uint64_t threads = 1;
  for (const std::uint32_t extent : launch.block_threads) threads *= std::min(extent, 1U << 20);
  if (threads == 0 || threads > max_block_threads) {
    return refuse(launch, "a workgroup has 1 to 1024 work-items, not " + std::to_string(threads));
  }
  if (threads > kernel.max_flat_workgroup_size) {
    return refuse(launch, "the kernel was compiled for workgroups of at most " +
                              std::to_string(kernel.max_flat_workgroup_size) +
                              " work-items (__launch_bounds__), not " + std::to_string(threads));
  }
  for (const std::uint32_t extent : launch.grid_blocks) {
    if (extent == 0) return refuse(launch, "the grid has no workgroups");
  }
  if (std::uint64_t{kernel.lds_size} + launch.dynamic_lds_bytes > kernel.lds_capacity) {
    return refuse(launch,
                  "the kernel asks for " +
                      std::to_string(std::uint64_t{kernel.lds_size} + launch.dynamic_lds_bytes) +
                      " bytes of LDS; a workgroup has " + std::to_string(kernel.lds_capacity));
  }
  if (launch.kernarg.size() < kernel.kernarg_size) {
    return refuse(launch, "the kernel takes " + std::to_string(kernel.kernarg_size) +
                              " bytes of arguments, not " + std::to_string(launch.kernarg.size()));
  }
  if (launch.kernarg.size() > LaunchBlock::max_kernarg) {
    return refuse(launch, "the kernel takes " + std::to_string(launch.kernarg.size()) +
                              " bytes of arguments; there is room for " +
                              std::to_string(LaunchBlock::max_kernarg));
  }
  if (kernel.private_size > max_scratch || launch.stack_bytes > max_scratch) {
    return refuse(launch, "the kernel asks for " + std::to_string(kernel.private_size) +
                              " bytes of scratch per work-item");
  }
  return std::nullopt;
}

Fault unsupported(const Launch& launch, const Program& program, const Instruction& instruction) {
  Fault fault;
  fault.kernel = launch.kernel->name;
  fault.pc = launch.kernel->code_object->content().code_offset + instruction.pc;
  fault.instruction = program.text_at(instruction.pc);
  const bool known = fault.instruction.front() != '.' && instruction.pc < program.size;
  const std::string set(name_of(program.set));
  fault.kind = known ? FaultKind::unsupported_instruction : FaultKind::invalid_instruction;
  fault.message =
      known ? "the engine does not implement this instruction; nothing was run"
            : "the kernel reaches bytes that are no " + set + " instruction; nothing was run";
  return fault;
}

ProgramOptions options_for(const Kernel& kernel) {
  ProgramOptions options;
  options.wide = kernel.wave_size == 64;
  options.special_mode = (kernel.rsrc1 >> 12 & 0xFF) != mode::usual;
  options.count = counting();
  options.check = checking();
  options.interleave = settings().interleave;
  return options;
}

// The code itself may change MODE, so the first program decides about the final one.
const Program& program_for(const Kernel& kernel) {
  const CodeObject::Content& content = kernel.code_object->content();
  ProgramOptions options = options_for(kernel);
  const Program& program = content.program(options);
  if (!program.changes_mode || options.special_mode) return program;
  options.special_mode = true;
  return content.program(options);
}

void fill_work_items(const Launch& launch, LaunchState& state) {
  const auto [x, y, z] = launch.block_threads;
  const std::uint32_t threads = x * y * z;
  const unsigned rows = state.wave_count * (state.wide ? 2 : 1);
  state.work_item_ids.resize(rows);
  state.active.assign(rows, 0);
  for (std::uint32_t flat = 0; flat < rows * lanes; ++flat) {
    const std::uint32_t item_x = flat % x;
    const std::uint32_t item_y = flat / x % y;
    const std::uint32_t item_z = flat / x / y;
    state.work_item_ids[flat / lanes].lane[flat % lanes] = item_x | item_y << 10 | item_z << 20;
    if (flat < threads) state.active[flat / lanes] |= 1U << flat % lanes;
  }
}

void fill_dispatch_packet(const Launch& launch, LaunchState& state) {
  std::byte* packet = launch.block->dispatch_packet.data();
  std::memset(packet, 0, launch.block->dispatch_packet.size());
  const auto put = [packet](unsigned at, const auto& value) {
    std::memcpy(packet + at, &value, sizeof value);
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    put(4 + 2 * axis, static_cast<std::uint16_t>(launch.block_threads[axis]));
    const std::uint32_t remainder = launch.grid_remainder[axis];
    const std::uint32_t whole = launch.grid_blocks[axis] - (remainder != 0 ? 1 : 0);
    put(12 + 4 * axis, whole * launch.block_threads[axis] + remainder);
  }
  put(24, state.scratch_stride);
  put(28, state.lds_bytes);
  put(32, launch.kernel->entry);
  put(40, reinterpret_cast<std::uint64_t>(launch.kernarg.data()));
}

// amd_queue_t as far as device code reads it: the apertures.
const std::byte* queue_descriptor() {
  static const std::byte* queue = [] {
    std::byte* memory = DeviceMemory::instance().allocate(4096);
    const std::uint32_t high = private_aperture_high;
    if (memory != nullptr) std::memcpy(memory + 0x44, &high, sizeof high);
    return memory;
  }();
  return queue;
}

// A buffer whose elements the lanes take turns in (ADD_TID_ENABLE): buffer instructions of gfx90a
// reach scratch through it, and the engine knows it by that bit. Its base is the wave's scratch.
constexpr std::array<std::uint32_t, 4> scratch_descriptor = {0, 0, ~0U, 1U << 23};

void fill_user_sgprs(const Launch& launch, LaunchState& state) {
  const UserSgprs& user = state.kernel->user_sgprs;
  std::vector<std::uint32_t>& sgprs = state.user_sgprs;
  const auto push = [&sgprs](std::uint64_t value) {
    sgprs.push_back(static_cast<std::uint32_t>(value));
    sgprs.push_back(static_cast<std::uint32_t>(value >> 32));
  };
  if (user.private_segment_buffer) {
    constexpr auto descriptor = scratch_descriptor;
    sgprs.insert(sgprs.end(), descriptor.begin(), descriptor.end());
  }
  if (user.dispatch_pointer) {
    push(reinterpret_cast<std::uint64_t>(launch.block->dispatch_packet.data()));
  }
  if (user.queue_pointer) push(reinterpret_cast<std::uint64_t>(queue_descriptor()));
  if (user.kernarg_pointer) push(reinterpret_cast<std::uint64_t>(launch.kernarg.data()));
  if (user.dispatch_id) push(state.serial);
  if (user.flat_scratch_init) push(0);
  if (user.private_segment_size) sgprs.push_back(state.scratch_stride);
  for (unsigned k = 0; k < user.preloaded_count; ++k) {
    std::uint32_t word = 0;
    std::memcpy(&word, launch.kernarg.data() + 4 * (user.preloaded_offset + k), sizeof word);
    sgprs.push_back(word);
  }
}

void set_mode(LaunchState& state) {
  const std::uint32_t rsrc1 = state.kernel->rsrc1;
  state.mode = (rsrc1 >> 12 & 0xFF) | ((rsrc1 >> 21 & 1) != 0 ? mode::dx10_clamp : 0) |
               ((rsrc1 >> 23 & 1) != 0 ? mode::ieee : 0);
  set_fixed_mode(state);
}

std::uint64_t time_limit_nanoseconds() {
  const double seconds = settings().time_limit_seconds;
  return seconds > 0 ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

}  // namespace

std::optional<Fault> prepare(Launch& launch, LaunchState& state) {
  if (launch.kernel == nullptr) return refuse(launch, "no kernel");
  if (auto fault = check_sizes(launch)) return fault;
  state.block.reset(LaunchBlock::take());
  if (state.block == nullptr) return refuse(launch, "no memory for the kernel's arguments");
  launch.block = state.block.get();
  std::memcpy(launch.block->kernarg.data(), launch.kernarg.data(), launch.kernarg.size());
  launch.kernarg = std::span(launch.block->kernarg).first(launch.kernarg.size());
  fill_hidden_arguments(launch);
  static std::atomic<std::uint64_t> serial{0};
  const Kernel& kernel = *launch.kernel;
  const Program& program = program_for(kernel);
  const std::uint64_t entry = kernel.entry - program.base;
  if (const Instruction* instruction = program.first_unsupported(entry)) {
    return unsupported(launch, program, *instruction);
  }
  state.serial = ++serial;
  state.launch = &launch;
  state.kernel = &kernel;
  state.program = &program;
  state.entry = program.at(kernel.entry);
  state.wide = kernel.wave_size == 64;
  const auto& block = launch.block_threads;
  const unsigned wave_size = kernel.wave_size;
  state.wave_count = (block[0] * block[1] * block[2] + wave_size - 1) / wave_size;
  state.workgroup_count =
      std::uint64_t{launch.grid_blocks[0]} * launch.grid_blocks[1] * launch.grid_blocks[2];
  state.scratch_stride = kernel.private_size;
  if (kernel.uses_dynamic_stack) {
    state.scratch_stride += launch.stack_bytes != 0 ? launch.stack_bytes : default_stack;
  }
  state.scratch_stride = (state.scratch_stride + 15) & ~15U;
  state.lds_bytes = kernel.lds_size + launch.dynamic_lds_bytes;
  set_mode(state);
  const std::uint64_t limit = time_limit_nanoseconds();
  state.deadline = limit != 0 ? steady_nanoseconds() + limit : 0;
  fill_work_items(launch, state);
  fill_dispatch_packet(launch, state);
  fill_user_sgprs(launch, state);
  return std::nullopt;
}

namespace {

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void describe_wave(const Wave& wave, Fault& fault) {
  switch (wave.fault) {
    case WaveFault::memory_access:
      fault.kind = FaultKind::memory_access;
      fault.address = wave.fault_address;
      fault.message =
          wave.fault_address == 0
              ? "access to an address that is not mapped (a null or wild pointer)"
              : "access to address " + hexadecimal(wave.fault_address) + ", which is not mapped";
      break;
    case WaveFault::stack_overflow:
      fault.kind = FaultKind::stack_overflow;
      fault.message = "a work-item used more than its " + std::to_string(wave.scratch_stride) +
                      " bytes of scratch (deep recursion?)";
      break;
    case WaveFault::trap:
      fault.kind = FaultKind::trap;
      fault.message = "the kernel aborted (abort or __builtin_trap)";
      break;
    case WaveFault::jump_outside_code:
      fault.kind = FaultKind::invalid_instruction;
      fault.address = wave.fault_address;
      fault.message = "jump to " + hexadecimal(wave.fault_address) +
                      ", which is outside the code object's code";
      break;
    case WaveFault::invalid_instruction:
      fault.kind = FaultKind::invalid_instruction;
      fault.message = "execution reached bytes that are no " +
                      std::string(name_of(wave.program->set)) + " instruction";
      break;
    default:
      fault.kind = FaultKind::unsupported_instruction;
      fault.message =
          "the engine does not implement this instruction, or the image that it names"
          " (tiled, with mipmaps, or of another format than HIP's arrays have)";
      break;
  }
}

unsigned at_barrier(Workgroup& group) {
  unsigned waiting = 0;
  for (unsigned i = 0; i < group.wave_count; ++i) {
    waiting += group.wave(i).state == WaveState::at_barrier;
  }
  return waiting;
}

}  // namespace

Fault describe(Workgroup& group, Outcome outcome) {
  Fault fault;
  const LaunchState& state = *group.launch;
  fault.kernel = state.kernel->name;
  fault.workgroup = group.id;
  const Instruction* instruction = nullptr;
  if (outcome == Outcome::faulted) {
    const Wave& wave = group.wave(group.faulted_wave);
    if (wave.fault == WaveFault::check) return take_stopping_report();
    instruction = wave.current;
    describe_wave(wave, fault);
    fault.lane = wave.index * state.kernel->wave_size;
  } else if (outcome == Outcome::out_of_time) {
    fault.kind = FaultKind::time_limit;
    fault.message = "the kernel ran longer than its time limit";
    instruction = group.wave(group.faulted_wave).next;
    if (const unsigned waiting = at_barrier(group); waiting != 0) {
      fault.kind = FaultKind::deadlock;
      fault.message = std::to_string(waiting) + " of " + std::to_string(group.wave_count) +
                      " waves wait at a barrier that the others do not reach: they ran longer than"
                      " the time limit";
    }
  } else {
    fault.kind = FaultKind::deadlock;
    fault.message = "some waves wait at a barrier that the others never reach";
    for (unsigned i = 0; i < group.wave_count; ++i) {
      if (group.wave(i).state == WaveState::at_barrier) instruction = group.wave(i).next;
    }
  }
  if (instruction != nullptr) {
    fault.pc = state.kernel->code_object->content().code_offset + instruction->pc;
    fault.instruction = state.program->text_at(instruction->pc);
    if (fault.kind == FaultKind::trap &&
        state.kernel->code_object->content().is_in_assertion(fault.pc)) {
      fault.kind = FaultKind::assertion;
      fault.message = "a device-side assertion failed";
    }
  }
  return fault;
}

}  // namespace cass::amdgpu
