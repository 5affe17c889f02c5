// The description of a code object as JSON, for Python.
#include <cstring>
#include <string>

#include "../code_object.hpp"
#include "../engine.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace cass::amdgpu;

// Names come from untrusted files: escape what JSON does not allow.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (code < 0x20 || code >= 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
      out += escape;
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

std::string argument_json(const KernelArgument& argument) {
  return "{\"name\": " + quoted(argument.name) +
         ", \"offset\": " + std::to_string(argument.offset) +
         ", \"size\": " + std::to_string(argument.size) +
         ", \"kind\": " + std::to_string(static_cast<unsigned>(argument.kind)) +
         ", \"hidden\": " + (is_hidden(argument.kind) ? "true" : "false") + "}";
}

std::string kernel_json(const Kernel& kernel) {
  std::string text = "{\"name\": " + quoted(kernel.name);
  const auto add = [&text](const char* name, std::uint64_t value) {
    text += std::string(", \"") + name + "\": " + std::to_string(value);
  };
  add("kernarg_size", kernel.kernarg_size);
  add("lds_size", kernel.lds_size);
  add("private_size", kernel.private_size);
  add("max_flat_workgroup_size", kernel.max_flat_workgroup_size);
  add("vgpr_count", kernel.vgpr_count);
  add("sgpr_count", kernel.sgpr_count);
  add("vgpr_spill_count", kernel.vgpr_spill_count);
  add("sgpr_spill_count", kernel.sgpr_spill_count);
  add("wave_size", kernel.wave_size);
  text +=
      std::string(", \"uses_dynamic_stack\": ") + (kernel.uses_dynamic_stack ? "true" : "false");
  text += ", \"arguments\": [";
  const char* separator = "";
  for (const KernelArgument& argument : kernel.arguments) {
    text += separator + argument_json(argument);
    separator = ", ";
  }
  return text + "]}";
}

std::string object_json(const CodeObject& object) {
  std::string text = "{\"target\": " + quoted(object.target()) +
                     ", \"version\": " + std::to_string(object.content().version) +
                     ", \"kernels\": [";
  const char* separator = "";
  for (const Kernel& kernel : object.kernels()) {
    text += separator + kernel_json(kernel);
    separator = ", ";
  }
  text += "], \"variables\": {";
  separator = "";
  for (const auto& [name, symbol] : object.content().variables) {
    text += separator + quoted(name) + ": " + std::to_string(symbol.size);
    separator = ", ";
  }
  return text + "}}";
}

}  // namespace

// JSON: the object's description, or {"error": message}. Allocated; to be given back with
// cass_emulator_release.
EXPORT char* cass_emulator_describe(const std::byte* bytes, std::size_t size) {
  Error error;
  std::string text;
  const auto elf = find_code_object({bytes, size}, error);
  if (const auto object = elf.empty() ? nullptr : CodeObject::load(elf, error)) {
    text = object_json(*object);
  } else {
    text = "{\"error\": " + quoted(error.message) + "}";
  }
  return strdup(text.c_str());
}

EXPORT void cass_emulator_release(char* text) { std::free(text); }
