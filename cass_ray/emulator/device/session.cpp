#include "session.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "../engine/code_object.hpp"
#include "../engine/device_memory.hpp"
#include "description.hpp"
#include "hash.hpp"
#include "output.hpp"

namespace cass::device {
namespace {

using amdgpu::AllocationKind;
using amdgpu::DeviceMemory;

constexpr std::size_t max_mapped = 30'000;  // a process may have 65,530 mappings
constexpr std::size_t max_blocks = 4'000'000;
constexpr std::size_t max_code_objects = 4096;
constexpr std::uint64_t page = 4096;

std::byte* pointer(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

// In checking mode device memory starts with a value that no program expects, so that one that
// reads what it never wrote shows it: a large int, 3.4e38f, 1.4e306, and a NaN half every second.
// Blocks beyond the limit stay untouched: programs that reserve gigabytes would commit them.
constexpr std::uint32_t unwritten = 0x7f7fa5a5;
constexpr std::size_t largest_filled = std::size_t{64} << 20;

void fill_unwritten(std::byte* block, std::size_t bytes) {
  if (bytes > largest_filled) return;
  for (std::size_t at = 0; at < bytes; at += sizeof unwritten) {
    std::memcpy(block + at, &unwritten, std::min(sizeof unwritten, bytes - at));
  }
}

AllocationKind engine_kind(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::pinned: return AllocationKind::host_pinned;
    case MemoryKind::managed: return AllocationKind::managed;
    default: return AllocationKind::device;
  }
}

// Bytes from the first row's first to the last row's last; none where that is no amount.
std::optional<std::uint64_t> extent(std::uint64_t pitch, std::uint64_t width, std::uint64_t rows) {
  if (width == 0 || rows == 0 || (rows > 1 && pitch < width)) return std::nullopt;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(rows - 1, pitch, &bytes) ||
      __builtin_add_overflow(bytes, width, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

template <class Element>
void fill_row(std::byte* row, std::uint32_t value, std::size_t count) {
  const auto element = static_cast<Element>(value);
  for (std::size_t index = 0; index < count; ++index) {
    std::memcpy(row + index * sizeof element, &element, sizeof element);
  }
}

}  // namespace

File shared_file(std::uint64_t bytes) {
  File file(::memfd_create("cass", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) return {};
  ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return file;
}

Session::Session(const Options& options, Evidence& evidence)
    : options_(options), evidence_(evidence), transcript_(options.transcript) {
  const bool changes = options.perturbation.where != Perturbation::Request::Where::nowhere;
  if (!changes && !transcript_.enabled()) return;
  if (perturbation_.enable(options.perturbation, transcript_)) {
    Output::instance().perturbed = perturbation_.changes_text();
  }
}

// Not while memory is in use: who releases a block waits for that under the same guard.
MemoryPlace Session::place_of(std::uint64_t address, std::uint64_t bytes, Direction direction) {
  if (!perturbation_.enabled()) return {};
  const std::lock_guard lock(guard_);
  if (auto after = blocks_.upper_bound(address); after != blocks_.begin()) {
    const auto& [start, block] = *--after;
    if (address < start + block.bytes) return {block.key, address - start};
  }
  constexpr std::uint64_t of_variables = 0x7661'7269'6162'6c65;
  constexpr std::uint64_t of_constants = 0x636f'6e73'7461'6e74;
  // Before the first launch a variable holds what the program was loaded with.
  const bool constant = direction == Direction::out && !launched_;
  auto& copies = variable_copies_[direction == Direction::in ? 0 : constant ? 2 : 1];
  return {mixed(bytes ^ mixed((constant ? of_constants : of_variables) + copies[bytes]++)), 0};
}

std::uint64_t Session::next_key(std::uint64_t bytes) {
  return mixed(bytes ^ mixed(allocated_[bytes]++));
}

bool Session::holds(const Rows& rows, std::uint64_t width, std::uint64_t count) const {
  const auto bytes = extent(rows.pitch, width, count);
  return bytes && DeviceMemory::instance().holds(rows.address, *bytes) &&
         fragments_.may_hold(rows.address, *bytes);
}

bool Session::has_room(bool mapped) const {
  return blocks_.size() < max_blocks && (!mapped || mapped_ < max_mapped);
}

std::uint64_t Session::allocate(MemoryKind kind, std::uint64_t bytes, File& file) {
  const bool shared = kind == MemoryKind::pinned || kind == MemoryKind::managed;
  const std::lock_guard lock(guard_);
  // Checking mode wants an unmapped page behind each.
  const bool in_blocks = !shared && options_.fragments && !amdgpu::checking();
  const bool mapped = !in_blocks || !Fragments::shares_block(bytes);
  if (bytes == 0 || !has_room(mapped)) return 0;
  std::byte* block = nullptr;
  if (shared) {
    if (bytes > options_.shared_bytes - std::min(shared_bytes_, options_.shared_bytes)) return 0;
    file = shared_file(bytes);
    if (file) block = DeviceMemory::instance().map(file.number(), bytes);
  } else {
    block = in_blocks ? fragments_.allocate(bytes) : DeviceMemory::instance().allocate(bytes);
  }
  if (block == nullptr) return 0;
  if (shared) shared_bytes_ += bytes;
  mapped_ += mapped;
  const auto address = reinterpret_cast<std::uint64_t>(block);
  blocks_.emplace(address, Block{bytes, shared, false, mapped, next_key(bytes)});
  if (amdgpu::checking()) {
    if (kind == MemoryKind::device) {
      fill_unwritten(block, bytes);
      perturbation_.host_wrote(block, bytes);
    }
    amdgpu::register_allocation(block, bytes, engine_kind(kind));
  }
  return address;
}

bool Session::release(std::uint64_t address) {
  const std::lock_guard lock(guard_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.registered) return false;
  if (found->second.shared) shared_bytes_ -= found->second.bytes;
  amdgpu::unregister_allocation(pointer(address));
  fragments_.release(pointer(address));
  perturbation_.forget(pointer(address), found->second.bytes);
  mapped_ -= found->second.mapped;
  blocks_.erase(found);
  return true;
}

Status Session::share(std::uint64_t address, std::uint64_t bytes, File& file) {
  if (address % page != 0 || bytes % page != 0 || bytes == 0 || amdgpu::in_aperture(address)) {
    return Status::refused;
  }
  const std::lock_guard lock(guard_);
  if (!has_room(true) ||
      bytes > options_.shared_bytes - std::min(shared_bytes_, options_.shared_bytes)) {
    return Status::out_of_memory;
  }
  file = shared_file(bytes);
  if (!file || !DeviceMemory::instance().register_host(address, bytes, file.number())) {
    return Status::out_of_memory;
  }
  shared_bytes_ += bytes;
  ++mapped_;
  blocks_.emplace(address, Block{bytes, true, true, true, next_key(bytes)});
  amdgpu::register_allocation(pointer(address), bytes, AllocationKind::host_pinned);
  return Status::ok;
}

bool Session::unshare(std::uint64_t address) {
  const std::lock_guard lock(guard_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || !found->second.registered) return false;
  shared_bytes_ -= found->second.bytes;
  amdgpu::unregister_allocation(pointer(address));
  DeviceMemory::instance().unregister_host(address);
  --mapped_;
  blocks_.erase(found);
  return true;
}

bool Session::copy_in(const Rows& to, const std::byte* packed, std::uint64_t width,
                      std::uint64_t rows) {
  const auto place = place_of(to.address, width * rows, Direction::in);
  const auto in_use = DeviceMemory::instance().in_use();
  if (!holds(to, width, rows)) return false;
  for (std::uint64_t y = 0; y < rows; ++y) {
    std::byte* row = pointer(to.address + y * to.pitch);
    std::memcpy(row, packed + y * width, width);
    amdgpu::mark_initialized(row, width);
    perturbation_.arrived(row, width, place.at(y * to.pitch));
  }
  return true;
}

bool Session::copy_out(std::byte* packed, const Rows& from, std::uint64_t width,
                       std::uint64_t rows) {
  const auto place = place_of(from.address, width * rows, Direction::out);
  const auto in_use = DeviceMemory::instance().in_use();
  if (!holds(from, width, rows)) return false;
  for (std::uint64_t y = 0; y < rows; ++y) {
    const std::byte* row = pointer(from.address + y * from.pitch);
    std::memcpy(packed + y * width, row, width);
    if (amdgpu::in_device_range(row)) {
      perturbation_.returned(packed + y * width, row, width, place.at(y * from.pitch));
    }
  }
  return true;
}

bool Session::copy_inside(const Rows& to, const Rows& from, std::uint64_t width,
                          std::uint64_t rows) {
  const auto source_place = place_of(from.address, width * rows, Direction::out);
  const auto target_place = place_of(to.address, width * rows, Direction::in);
  const auto in_use = DeviceMemory::instance().in_use();
  if (!holds(to, width, rows) || !holds(from, width, rows)) return false;
  for (std::uint64_t y = 0; y < rows; ++y) {
    std::byte* target = pointer(to.address + y * to.pitch);
    const std::byte* source = pointer(from.address + y * from.pitch);
    std::memmove(target, source, width);
    amdgpu::mark_initialized(target, width);
    const bool from_device = amdgpu::in_device_range(source);
    const bool to_device = amdgpu::in_device_range(target);
    if (from_device && to_device) perturbation_.moved(target, source, width);
    if (from_device && !to_device) {
      perturbation_.returned(target, source, width, source_place.at(y * from.pitch));
    }
    if (!from_device && to_device)
      perturbation_.arrived(target, width, target_place.at(y * to.pitch));
  }
  return true;
}

bool Session::fill(const Fill& request) {
  const std::uint64_t unit = request.element_bytes;
  std::uint64_t width = 0;
  if ((unit != 1 && unit != 2 && unit != 4) ||
      __builtin_mul_overflow(unit, request.count, &width)) {
    return false;
  }
  const auto in_use = DeviceMemory::instance().in_use();
  if (!holds({request.address, request.pitch}, width, request.rows)) return false;
  for (std::uint64_t y = 0; y < request.rows; ++y) {
    std::byte* row = pointer(request.address + y * request.pitch);
    switch (unit) {
      case 1: std::memset(row, static_cast<int>(request.value), request.count); break;
      case 2: fill_row<std::uint16_t>(row, request.value, request.count); break;
      default: fill_row<std::uint32_t>(row, request.value, request.count);
    }
    amdgpu::mark_initialized(row, width);
    perturbation_.host_wrote(row, width);
  }
  return true;
}

std::uint64_t Session::load(std::span<const std::byte> elf, std::vector<std::byte>& description,
                            amdgpu::Error& error) {
  auto loaded = amdgpu::CodeObject::load(elf, error);
  if (loaded == nullptr) return 0;
  const auto& content = loaded->content();
  perturbation_.host_wrote(content.image, content.image_size);
  if (amdgpu::checking()) {
    for (const auto& [name, symbol] : content.variables) {
      amdgpu::register_allocation(symbol.address, symbol.size, AllocationKind::variable);
    }
  }
  description = write_description(loaded->target(), loaded->kernels(), content.variables);
  const std::lock_guard lock(guard_);
  if (code_objects_.size() >= max_code_objects) {
    error = {amdgpu::ErrorKind::out_of_memory, "more than 4096 code objects are loaded"};
    return 0;
  }
  code_objects_.emplace(++last_code_object_, std::move(loaded));
  return last_code_object_;
}

bool Session::unload(std::uint64_t code_object) {
  std::shared_ptr<amdgpu::CodeObject> gone;  // a launch may still hold it
  const std::lock_guard lock(guard_);
  const auto found = code_objects_.find(code_object);
  if (found == code_objects_.end()) return false;
  gone = std::move(found->second);
  code_objects_.erase(found);
  const auto& content = gone->content();
  for (const auto& [name, symbol] : content.variables)
    amdgpu::unregister_allocation(symbol.address);
  perturbation_.forget(content.image, content.image_size);
  return true;
}

std::vector<Perturbation::Block> Session::blocks() {
  std::vector<Perturbation::Block> all;
  const std::lock_guard lock(guard_);
  for (const auto& [address, block] : blocks_) {
    all.push_back({pointer(address), block.bytes, block.key, block.shared});
  }
  return all;
}

bool Session::launch(const Launch& request, std::span<const std::byte> arguments, int socket,
                     std::vector<amdgpu::Fault>& reports) {
  std::shared_ptr<amdgpu::CodeObject> code_object;
  {
    const std::lock_guard lock(guard_);
    const auto found = code_objects_.find(request.code_object);
    if (found == code_objects_.end()) return false;
    code_object = found->second;
  }
  if (request.kernel >= code_object->kernels().size()) return false;
  const amdgpu::Kernel& kernel = code_object->kernels()[request.kernel];
  if (arguments.size() != kernel.kernarg_size) return false;
  evidence_.count_launch(kernel.name, {request.grid_blocks, request.block_threads,
                                       request.dynamic_lds_bytes, request.graph != 0});
  if (options_.skip_kernels) return true;
  std::vector<std::byte> kernarg(arguments.begin(), arguments.end());
  amdgpu::Launch launch;
  launch.kernel = &kernel;
  launch.grid_blocks = request.grid_blocks;
  launch.block_threads = request.block_threads;
  launch.grid_remainder = request.remainder;
  launch.kernarg = kernarg;
  launch.dynamic_lds_bytes = request.dynamic_lds_bytes;
  launch.stack_bytes = request.stack_bytes;
  launch.cooperative = request.cooperative != 0;
  Output::instance().enter(socket);
  transcript_.launch(kernel.name);
  launched_ = true;
  if (perturbation_.enabled()) perturbation_.before_launch(blocks());
  auto fault = amdgpu::run(launch);
  perturbation_.after_launch();
  Output::instance().leave(socket);
  if (fault) reports.push_back(std::move(*fault));
  for (amdgpu::Fault& other : amdgpu::take_reports()) reports.push_back(std::move(other));
  return true;
}

}  // namespace cass::device
