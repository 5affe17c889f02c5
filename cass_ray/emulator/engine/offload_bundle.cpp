// Finds the code object in an offload bundle. Also part of the HIP runtime.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine.hpp"
#include "isa.hpp"

namespace cass::amdgpu {
namespace {

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";

bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

std::uint64_t number_at(std::span<const std::byte> bytes, std::uint64_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::span<const std::byte> failed(Error& error, ErrorKind kind, std::string message) {
  error = {kind, std::move(message)};
  return {};
}

// "gfx942" of a target identifier.
std::string_view named_processor(std::string_view target) {
  const std::string_view identifier = target.substr(std::min(target.rfind("gfx"), target.size()));
  return identifier.substr(0, identifier.find(':'));
}

// Of what a processor can run, its own code comes first and that for all of its kind last.
int distance(std::string_view target, std::string_view processor) {
  const std::string_view own = named_processor(target);
  return own == processor ? 0 : own.ends_with("-generic") ? 2 : 1;
}

// The instruction set of a target identifier ("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-")
// whose code `processor` can run (any that the engine runs, where that is empty). XNACK is off and
// SRAM-ECC on, as on the cards; code of either setting runs where it does not say.
std::optional<InstructionSet> loadable_set(std::string_view target, std::string_view processor) {
  const std::size_t name = target.rfind("gfx");
  if (name == std::string_view::npos) return std::nullopt;
  const std::string_view identifier = target.substr(name);
  const std::string_view own = named_processor(target);
  if (identifier.find(":xnack+") != std::string_view::npos ||
      identifier.find(":sramecc-") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto set = instruction_set_of(own);
  if (own == "gfx9-4-generic" && processor == "gfx950") return set;
  // gfx11's processors differ in what compute does not show, and gfx12's.
  if (!set || processor.empty() || set == instruction_set_of(processor)) return set;
  return std::nullopt;
}

}  // namespace

std::span<const std::byte> find_code_object(std::span<const std::byte> bytes, Error& error,
                                            std::string_view processor) {
  if (starts_with(bytes,
                  "\x7F"
                  "ELF"))
    return bytes;
  if (starts_with(bytes, compressed_magic)) {
    return failed(error, ErrorKind::malformed,
                  "the offload bundle is compressed; compile with --no-offload-compress");
  }
  if (!starts_with(bytes, bundle_magic) || bytes.size() < bundle_magic.size() + 8) {
    return failed(error, ErrorKind::malformed, "neither an ELF file nor an offload bundle");
  }
  std::uint64_t at = bundle_magic.size();
  const std::uint64_t count = number_at(bytes, at);
  at += 8;
  std::string targets;
  std::span<const std::byte> found;
  std::pair<int, InstructionSet> found_rank;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes.size() - at < 24)
      return failed(error, ErrorKind::malformed, "the offload bundle is cut short");
    const std::uint64_t offset = number_at(bytes, at);
    const std::uint64_t size = number_at(bytes, at + 8);
    const std::uint64_t length = number_at(bytes, at + 16);
    at += 24;
    if (length > bytes.size() - at || offset > bytes.size() || size > bytes.size() - offset) {
      return failed(error, ErrorKind::malformed, "the offload bundle is cut short");
    }
    const std::string_view target(reinterpret_cast<const char*>(bytes.data()) + at, length);
    at += length;
    targets += (targets.empty() ? "" : ", ") + std::string(target);
    const auto set = size != 0 ? loadable_set(target, processor) : std::nullopt;
    if (!set) continue;
    const std::pair rank(distance(target, processor), *set);
    if (!found.empty() && rank >= found_rank) continue;
    found = bytes.subspan(offset, size);
    found_rank = rank;
  }
  if (!found.empty()) {
    error = {};
    return found;
  }
  const std::string wanted(processor.empty() ? "gfx1100" : processor);
  return failed(error, ErrorKind::wrong_target,
                "no code for " + wanted + " among the targets of the offload bundle (" + targets +
                    "); compile with --offload-arch=" + wanted);
}

bool runs_on(std::string_view target, std::string_view processor) {
  return loadable_set(target, processor).has_value();
}

}  // namespace cass::amdgpu
