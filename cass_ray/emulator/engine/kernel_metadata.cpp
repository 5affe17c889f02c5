// Kernels of a code object: the metadata note and the kernel descriptors.
// Source: LLVM, "User Guide for AMDGPU Backend", code object metadata and kernel descriptor.
#include <algorithm>
#include <cstring>

#include "elf_image.hpp"
#include "msgpack.hpp"

namespace cass::amdgpu {
namespace {

using msgpack::Value;

constexpr std::pair<std::string_view, ArgumentKind> kinds[] = {
    {"by_value", ArgumentKind::by_value},
    {"global_buffer", ArgumentKind::global_buffer},
    {"dynamic_shared_pointer", ArgumentKind::dynamic_shared_pointer},
    {"sampler", ArgumentKind::sampler},
    {"image", ArgumentKind::image},
    {"pipe", ArgumentKind::pipe},
    {"queue", ArgumentKind::queue},
    {"hidden_block_count_x", ArgumentKind::hidden_block_count_x},
    {"hidden_block_count_y", ArgumentKind::hidden_block_count_y},
    {"hidden_block_count_z", ArgumentKind::hidden_block_count_z},
    {"hidden_group_size_x", ArgumentKind::hidden_group_size_x},
    {"hidden_group_size_y", ArgumentKind::hidden_group_size_y},
    {"hidden_group_size_z", ArgumentKind::hidden_group_size_z},
    {"hidden_remainder_x", ArgumentKind::hidden_remainder_x},
    {"hidden_remainder_y", ArgumentKind::hidden_remainder_y},
    {"hidden_remainder_z", ArgumentKind::hidden_remainder_z},
    {"hidden_global_offset_x", ArgumentKind::hidden_global_offset_x},
    {"hidden_global_offset_y", ArgumentKind::hidden_global_offset_y},
    {"hidden_global_offset_z", ArgumentKind::hidden_global_offset_z},
    {"hidden_grid_dims", ArgumentKind::hidden_grid_dims},
    {"hidden_printf_buffer", ArgumentKind::hidden_printf_buffer},
    {"hidden_hostcall_buffer", ArgumentKind::hidden_hostcall_buffer},
    {"hidden_default_queue", ArgumentKind::hidden_default_queue},
    {"hidden_completion_action", ArgumentKind::hidden_completion_action},
    {"hidden_multigrid_sync_arg", ArgumentKind::hidden_multigrid_sync_arg},
    {"hidden_heap_v1", ArgumentKind::hidden_heap_v1},
    {"hidden_dynamic_lds_size", ArgumentKind::hidden_dynamic_lds_size},
    {"hidden_private_base", ArgumentKind::hidden_private_base},
    {"hidden_shared_base", ArgumentKind::hidden_shared_base},
    {"hidden_queue_ptr", ArgumentKind::hidden_queue_ptr},
    {"hidden_none", ArgumentKind::hidden_none},
};

// Offsets in the 64-byte kernel descriptor.
enum Descriptor : unsigned {
  lds_size = 0,
  private_size = 4,
  kernarg_size = 8,
  entry_offset = 16,
  rsrc3 = 44,
  rsrc1 = 48,
  rsrc2 = 52,
  properties = 56,
  kernarg_preload = 58,
  descriptor_size = 64,
};

std::int64_t integer(const Value& map, std::string_view key, std::int64_t otherwise = 0) {
  const Value* value = map.find(key);
  const bool usable = value != nullptr &&
                      (value->kind == Value::Kind::integer || value->kind == Value::Kind::boolean);
  return usable ? value->integer : otherwise;
}

std::string text(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->kind == Value::Kind::text ? std::string(value->text) : "";
}

std::uint32_t word(const std::byte* from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

KernelArgument argument(const Value& map) {
  KernelArgument result;
  result.name = text(map, ".name");
  result.offset = static_cast<std::uint32_t>(integer(map, ".offset"));
  result.size = static_cast<std::uint32_t>(integer(map, ".size"));
  const std::string kind = text(map, ".value_kind");
  result.kind = kind.starts_with("hidden_") ? ArgumentKind::hidden_none : ArgumentKind::by_value;
  for (const auto& [name, value] : kinds) {
    if (name == kind) result.kind = value;
  }
  return result;
}

// Others have the workgroup's number in registers of its own (gfx12: trap temporaries).
bool has_workgroup_ids(InstructionSet set) { return set != InstructionSet::gfx12; }

// Others have the base of scratch in registers of its own ("architected").
bool has_scratch_offset(InstructionSet set) { return set == InstructionSet::gfx90a; }

UserSgprs user_sgprs(InstructionSet set, std::uint32_t rsrc2_word, std::uint32_t property_bits) {
  UserSgprs sgprs;
  sgprs.private_segment_buffer = (property_bits & 1) != 0;
  sgprs.dispatch_pointer = (property_bits & 2) != 0;
  sgprs.queue_pointer = (property_bits & 4) != 0;
  sgprs.kernarg_pointer = (property_bits & 8) != 0;
  sgprs.dispatch_id = (property_bits & 16) != 0;
  sgprs.flat_scratch_init = (property_bits & 32) != 0;
  sgprs.private_segment_size = (property_bits & 64) != 0;
  sgprs.count = static_cast<std::uint8_t>(rsrc2_word >> 1 & 31);
  if (has_workgroup_ids(set)) {
    sgprs.workgroup_id_x = (rsrc2_word >> 7 & 1) != 0;
    sgprs.workgroup_id_y = (rsrc2_word >> 8 & 1) != 0;
    sgprs.workgroup_id_z = (rsrc2_word >> 9 & 1) != 0;
    sgprs.workgroup_info = (rsrc2_word >> 10 & 1) != 0;
  }
  sgprs.private_segment_offset = has_scratch_offset(set) && (rsrc2_word & 1) != 0;
  return sgprs;
}

bool fail(Error& error, std::string message) {
  error = {ErrorKind::malformed, std::move(message)};
  return false;
}

// User SGPRs before those of preloaded arguments.
unsigned requested_sgprs(const UserSgprs& user) {
  const unsigned pairs = user.dispatch_pointer + user.queue_pointer + user.kernarg_pointer +
                         user.dispatch_id + user.flat_scratch_init;
  return (user.private_segment_buffer ? 4 : 0) + 2 * pairs + (user.private_segment_size ? 1 : 0);
}

// Arguments that hardware places in SGPRs (LLVM, "Preloaded Kernel Arguments"): code that loads
// them itself, for older firmware, comes before what runs with them.
bool read_preload(Kernel& kernel, const Symbol& symbol, const CodeObject::Content& content,
                  Error& error) {
  constexpr std::uint64_t loading_code = 256;
  constexpr unsigned max_user_sgprs = 16;
  const std::uint32_t field = word(symbol.address + kernarg_preload - 2) >> 16;
  UserSgprs& user = kernel.user_sgprs;
  user.preloaded_count = field & 127;
  user.preloaded_offset = static_cast<std::uint16_t>(field >> 7);
  if (user.preloaded_count == 0) return true;
  if (requested_sgprs(user) + user.preloaded_count > max_user_sgprs) {
    return fail(error, "kernel " + kernel.name + " asks for more than 16 user SGPRs");
  }
  kernel.entry += loading_code;
  const auto end =
      reinterpret_cast<std::uint64_t>(content.image) + content.code_offset + content.code_size;
  if (kernel.entry >= end ||
      4U * (user.preloaded_offset + user.preloaded_count) > kernel.kernarg_size) {
    return fail(error,
                "the preloaded arguments of kernel " + kernel.name + " lie outside its segment");
  }
  return true;
}

bool read_descriptor(Kernel& kernel, const Symbol& symbol, const CodeObject::Content& content,
                     Error& error) {
  const auto at = static_cast<std::uint64_t>(symbol.address - content.image);
  if (at > content.image_size - descriptor_size) {
    return fail(error, "the descriptor of kernel " + kernel.name + " lies outside the code object");
  }
  std::int64_t offset = 0;
  std::memcpy(&offset, symbol.address + entry_offset, sizeof offset);
  const std::uint64_t entry = at + static_cast<std::uint64_t>(offset);
  if (entry < content.code_offset || entry - content.code_offset >= content.code_size ||
      entry % 4 != 0) {
    return fail(error, "the entry of kernel " + kernel.name + " lies outside the code");
  }
  kernel.entry = reinterpret_cast<std::uint64_t>(content.image) + entry;
  kernel.lds_size = std::max(kernel.lds_size, word(symbol.address + lds_size));
  kernel.private_size = std::max(kernel.private_size, word(symbol.address + private_size));
  kernel.kernarg_size = std::max(kernel.kernarg_size, word(symbol.address + kernarg_size));
  kernel.rsrc1 = word(symbol.address + rsrc1);
  kernel.rsrc2 = word(symbol.address + rsrc2);
  kernel.rsrc3 = word(symbol.address + rsrc3);
  const std::uint32_t bits = word(symbol.address + properties) & 0xFFFF;
  kernel.user_sgprs = user_sgprs(content.set, kernel.rsrc2, bits);
  kernel.wave_size = !is_gfx9(content.set) && (bits >> 10 & 1) != 0 ? 32 : 64;
  if (is_gfx9(content.set) && !read_preload(kernel, symbol, content, error)) return false;
  kernel.uses_dynamic_stack = (bits >> 11 & 1) != 0;
  return true;
}

bool read_kernel(const Value& map, const std::unordered_map<std::string, Symbol>& symbols,
                 CodeObject::Content& content, Error& error) {
  Kernel kernel;
  kernel.name = text(map, ".name");
  kernel.descriptor_symbol = text(map, ".symbol");
  kernel.kernarg_size = static_cast<std::uint32_t>(integer(map, ".kernarg_segment_size"));
  kernel.kernarg_alignment = static_cast<std::uint32_t>(integer(map, ".kernarg_segment_align", 16));
  kernel.lds_size = static_cast<std::uint32_t>(integer(map, ".group_segment_fixed_size"));
  kernel.private_size = static_cast<std::uint32_t>(integer(map, ".private_segment_fixed_size"));
  kernel.max_flat_workgroup_size =
      static_cast<std::uint32_t>(integer(map, ".max_flat_workgroup_size", 1024));
  kernel.vgpr_count = static_cast<std::uint16_t>(integer(map, ".vgpr_count"));
  kernel.sgpr_count = static_cast<std::uint16_t>(integer(map, ".sgpr_count"));
  kernel.vgpr_spill_count = static_cast<std::uint16_t>(integer(map, ".vgpr_spill_count"));
  kernel.sgpr_spill_count = static_cast<std::uint16_t>(integer(map, ".sgpr_spill_count"));
  kernel.code_object_version = content.version;
  if (const Value* arguments = map.find(".args")) {
    for (const Value& item : arguments->items) kernel.arguments.push_back(argument(item));
  }
  std::ranges::sort(kernel.arguments, {}, &KernelArgument::offset);
  const auto symbol = symbols.find(kernel.descriptor_symbol);
  if (symbol == symbols.end()) {
    return fail(error, "the code object has no descriptor for kernel " + kernel.name);
  }
  if (!read_descriptor(kernel, symbol->second, content, error)) return false;
  for (const KernelArgument& item : kernel.arguments) {
    if (item.size > kernel.kernarg_size || item.offset > kernel.kernarg_size - item.size) {
      return fail(error, "an argument of kernel " + kernel.name + " lies outside its segment");
    }
  }
  if (map.find(".uses_dynamic_stack") != nullptr) {
    kernel.uses_dynamic_stack |= integer(map, ".uses_dynamic_stack") != 0;
  }
  content.kernels.push_back(std::move(kernel));
  return true;
}

}  // namespace

bool read_kernels(const MetadataNotes& metadata,
                  const std::unordered_map<std::string, Symbol>& symbols,
                  CodeObject::Content& content, Error& error) {
  // Without a note: device functions and variables only.
  for (const std::span<const std::byte> note : metadata) {
    if (note.empty()) continue;
    const auto root = msgpack::parse(note);
    if (!root) return fail(error, "the code object's metadata note is damaged");
    const Value* kernels = root->find("amdhsa.kernels");
    if (kernels == nullptr) continue;
    for (const Value& map : kernels->items) {
      if (!read_kernel(map, symbols, content, error)) return false;
    }
  }
  return true;
}

}  // namespace cass::amdgpu
