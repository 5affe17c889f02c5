// Runs code objects of gfx11 and gfx12 (RDNA), gfx90a, gfx942 and gfx950 (CDNA) on the CPU: the
// engine's public interface, with device_memory.hpp and settings.hpp.
//
// Memory model: device pointers are addresses of this process. Kernels can use what DeviceMemory
// has given out and nothing else: an access outside is a fault, not a way into the engine.
//
// All functions are thread-safe. None throws, except std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cass::amdgpu {

// Meaning of a kernel argument, `.value_kind` of the code object's metadata (AMDGPU usage guide,
// "Code Object V5 Kernel Argument Metadata Map").
enum class ArgumentKind : std::uint8_t {
  by_value,
  global_buffer,
  dynamic_shared_pointer,
  sampler,
  image,
  pipe,
  queue,
  hidden_block_count_x,
  hidden_block_count_y,
  hidden_block_count_z,
  hidden_group_size_x,
  hidden_group_size_y,
  hidden_group_size_z,
  hidden_remainder_x,
  hidden_remainder_y,
  hidden_remainder_z,
  hidden_global_offset_x,
  hidden_global_offset_y,
  hidden_global_offset_z,
  hidden_grid_dims,
  hidden_printf_buffer,
  hidden_hostcall_buffer,
  hidden_default_queue,
  hidden_completion_action,
  hidden_multigrid_sync_arg,
  hidden_heap_v1,
  hidden_dynamic_lds_size,
  hidden_private_base,
  hidden_shared_base,
  hidden_queue_ptr,
  hidden_none,
};

constexpr bool is_hidden(ArgumentKind kind) { return kind >= ArgumentKind::hidden_block_count_x; }

struct KernelArgument {
  std::string name;             // empty where the compiler does not say
  std::uint32_t offset = 0;     // bytes from the start of the kernarg segment
  std::uint32_t size = 0;       // bytes
  ArgumentKind kind = ArgumentKind::by_value;
};

// User SGPRs that the kernel asks for, in the order in which hardware fills them.
struct UserSgprs {
  bool private_segment_buffer = false;  // 4 SGPRs
  bool dispatch_pointer = false;        // 2
  bool queue_pointer = false;           // 2
  bool kernarg_pointer = false;         // 2
  bool dispatch_id = false;             // 2
  bool flat_scratch_init = false;       // 2
  bool private_segment_size = false;    // 1
  std::uint16_t preloaded_offset = 0;   // gfx9: dwords of the kernarg segment that follow
  std::uint16_t preloaded_count = 0;
  std::uint8_t count = 0;               // workgroup ids follow at this SGPR
  bool workgroup_id_x = false;
  bool workgroup_id_y = false;
  bool workgroup_id_z = false;
  bool workgroup_info = false;
  bool private_segment_offset = false;  // gfx90a: of the wave's scratch, the last one
};

struct Kernel {
  std::string name;                       // mangled, as in the metadata
  std::string descriptor_symbol;          // usually name + ".kd"
  std::vector<KernelArgument> arguments;  // by offset, hidden ones included
  std::uint32_t kernarg_size = 0;         // bytes, explicit and hidden
  std::uint32_t kernarg_alignment = 16;
  std::uint32_t lds_size = 0;             // bytes of static LDS
  std::uint32_t private_size = 0;         // bytes of scratch per lane
  std::uint32_t max_flat_workgroup_size = 1024;
  std::uint16_t vgpr_count = 0;
  std::uint16_t sgpr_count = 0;
  std::uint16_t vgpr_spill_count = 0;
  std::uint16_t sgpr_spill_count = 0;
  std::uint8_t wave_size = 32;            // 32 or 64
  std::uint8_t code_object_version = 5;   // 4, 5 or 6
  bool uses_dynamic_stack = false;
  bool gfx9 = false;                      // CDNA
  std::uint32_t lds_capacity = 64 << 10;  // bytes that a workgroup can have
  UserSgprs user_sgprs;
  std::uint64_t entry = 0;                // host address of the first instruction
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;  // compute_pgm_rsrc words of the descriptor
  const class CodeObject* code_object = nullptr;  // lives longer than the kernel
};

struct Symbol {
  std::byte* address = nullptr;
  std::size_t size = 0;
};

enum class ErrorKind : std::uint8_t {
  none,
  malformed,          // truncated, or not an ELF file
  wrong_target,       // an ELF file, but not for a processor that the engine runs
  unresolved_symbol,
  invalid_launch,     // sizes or the kernarg do not fit the kernel
  out_of_memory,
};

struct Error {
  ErrorKind kind = ErrorKind::none;
  std::string message;  // one sentence a person can act on
  explicit operator bool() const { return kind != ErrorKind::none; }
};

// A loaded code object. Loading copies the segments and applies relocations; decoding happens at
// the first launch of a kernel.
class CodeObject {
 public:
  // `elf` may be released after the call. Null, and `error` filled in, on failure.
  static std::shared_ptr<CodeObject> load(std::span<const std::byte> elf, Error& error);
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  const Kernel* kernel(std::string_view name) const;      // null if there is none
  std::span<const Kernel> kernels() const;
  std::optional<Symbol> variable(std::string_view name) const;  // __device__, __constant__, ...
  std::string_view target() const;                        // "gfx1100"

  struct Content;                                         // private to the engine
  const Content& content() const { return *content_; }

 private:
  explicit CodeObject(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

// The code object for `processor` ("gfx942"; empty: the first kind that the engine runs) inside an
// offload bundle ("__CLANG_OFFLOAD_BUNDLE__", the content of `.hip_fatbin`), or `bytes` itself
// where that is an ELF file already. Empty, and `error` filled in, if there is none; the message
// lists the targets that are there. A bundle's own length is not known to registration code: pass
// an upper bound, e.g. SIZE_MAX / 2 bytes from its start.
std::span<const std::byte> find_code_object(std::span<const std::byte> bytes, Error& error,
                                            std::string_view processor = {});

// The processor of an AMDGPU ELF file; empty where it is unknown.
std::string processor_of(std::span<const std::byte> elf);

// Whether code for `target` (a processor, or a target identifier) runs on `processor`.
bool runs_on(std::string_view target, std::string_view processor);

// What grid.sync() of a cooperative launch works on: the device library (ockl, cg.cl, mg_info) gets
// its address as hidden_multigrid_sync_arg and counts arriving workgroups in `arrivals`.
struct GridSynchronization {
  std::uint64_t all_grids = 0;  // of several devices: none here
  std::uint32_t grid_index = 0;
  std::uint32_t grids = 1;
  std::uint64_t preceding_work_items = 0;
  std::uint64_t all_work_items = 0;
  std::uint32_t arrivals[2] = {0, 0};
  std::uint32_t workgroups = 0;
};

struct Launch {
  const Kernel* kernel = nullptr;
  std::array<std::uint32_t, 3> grid_blocks{1, 1, 1};  // workgroups
  std::array<std::uint32_t, 3> block_threads{1, 1, 1};  // work-items of a workgroup
  std::span<std::byte> kernarg;  // kernel->kernarg_size bytes; hidden ones: see below
  std::uint32_t dynamic_lds_bytes = 0;
  std::uint32_t stack_bytes = 0;  // per lane for kernels with a dynamic stack; 0: default
  bool cooperative = false;  // all workgroups resident at once, grid barriers allowed
  // hipExtModuleLaunchKernel: work-items need not be a multiple of the block; 0: they are.
  std::array<std::uint32_t, 3> grid_remainder{0, 0, 0};
  bool graph = false;  // a node of a graph launches it
  class LaunchBlock* block = nullptr;  // while it runs
};

enum class FaultKind : std::uint8_t {
  unsupported_instruction,  // before anything ran
  invalid_instruction,  // reserved encoding, jump outside the code
  invalid_launch,  // also before anything ran
  memory_access,  // the CPU refused the address
  stack_overflow,  // scratch
  trap,  // s_trap: abort(), __builtin_trap()
  assertion,  // s_trap in what a failed assert calls
  time_limit,
  deadlock,  // a barrier that not all waves reach
  // checking mode only:
  out_of_bounds,
  use_after_free,
  uninitialized_read,
  data_race,
  barrier_divergence,
  misaligned_access,
  unordered_writes,  // a warning: right programs do it too, see is_warning
};

std::string_view name_of(FaultKind kind);

// Reported, and the program goes on as if nothing had happened.
inline bool is_warning(FaultKind kind) { return kind == FaultKind::unordered_writes; }

struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string kernel;
  std::string message;  // one sentence, without the context below
  std::uint64_t pc = 0;  // offset of the instruction in the code object's file
  std::string instruction;  // mnemonic and operands, as far as known
  std::string source;  // "file:line" from debug information, else empty
  std::array<std::uint32_t, 3> workgroup{};
  std::optional<std::uint32_t> lane;  // flat work-item in the workgroup
  std::optional<std::uint64_t> address;
  std::string text() const;  // all of it, several lines, for stderr
};

// Runs the launch to its end on the engine's thread pool and the calling thread. Copies the kernarg
// to where kernels see it and fills in the hidden arguments. Several calls may be in progress at
// once. After a fault the launch has stopped; memory holds what was written before. Checking mode
// may return one fault of several: all are printed by the runtime through `take_reports`.
std::optional<Fault> run(Launch& launch);

// Device printf, assert, malloc: served by the engine during `run`. What they print goes to `sink`
// in program order per wave, from any thread.
using OutputSink = void (*)(bool to_stderr, std::string_view text);
void set_output_sink(OutputSink sink);

// ---- checking mode (Settings::check)

enum class AllocationKind : std::uint8_t { device, host_pinned, managed, variable };

bool checking();  // the mode is on; then the runtime must register every allocation
void register_allocation(const void* address, std::size_t size, AllocationKind kind);
void unregister_allocation(const void* address);
void mark_initialized(const void* address, std::size_t size);  // memcpy, memset by the host
std::vector<Fault> take_reports();  // faults since the last call, for a summary and exit status

// Waves resident at once, workgroup limits: for occupancy queries of the runtime. The model is one
// WGP of 4 SIMDs with 1536 VGPRs of 32 lanes each and 128 KiB of LDS per WGP (64 KiB a workgroup);
// of CDNA one compute unit of 4 SIMDs with 512 VGPRs of 64 lanes each, 8 waves, and 64 KiB of LDS
// (gfx950: 160 KiB).
std::uint32_t max_workgroups_per_compute_unit(const Kernel& kernel, std::uint32_t block_threads,
                                              std::uint32_t dynamic_lds_bytes);

}  // namespace cass::amdgpu
