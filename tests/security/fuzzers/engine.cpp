// libFuzzer targets of the engine, one a build: -DCASS_FUZZ_CODE_OBJECT, -DCASS_FUZZ_CODE or
// -DCASS_FUZZ_COMPRESSED.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/code_object.hpp"
#include "engine/decoder.hpp"
#include "engine/engine.hpp"
#include "engine/program.hpp"
#include "hip_runtime/compressed_bundle.hpp"

namespace {

using namespace cass::amdgpu;

// Everything that happens to a code object before a launch: read, loaded, decoded, searched.
[[maybe_unused]] void code_object(std::span<const std::byte> bytes) {
  Error error;
  const auto elf = find_code_object(bytes, error);
  const auto object = elf.empty() ? nullptr : CodeObject::load(elf, error);
  if (object == nullptr) {
    if (error.message.empty()) __builtin_trap();  // a refusal says why
    return;
  }
  for (const bool wide : {false, true}) {
    ProgramOptions options;
    options.wide = wide;
    const Program& program = object->content().program(options);
    for (const auto& kernel : object->kernels()) {
      const auto pc = kernel.entry - program.base;
      if (pc >= program.size || pc % 4 != 0) continue;
      static_cast<void>(program.first_unsupported(pc));
      static_cast<void>(program.reachable_count(pc));
      static_cast<void>(program.text_at(static_cast<std::uint32_t>(pc)));
      static_cast<void>(max_workgroups_per_compute_unit(kernel, 256, 0));
    }
  }
}

// Any bytes as machine code of one of the instruction sets, which the first chooses: decoded,
// written as text, and made executable.
[[maybe_unused]] void code(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto choice = static_cast<unsigned>(bytes[0]);
  const auto set = static_cast<InstructionSet>(choice % instruction_set_count);
  bytes = bytes.subspan(1);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  for (std::size_t at = 0; at < words.size();) {
    const auto decoded = decode(set, std::span(words).subspan(at));
    if (!decoded) {
      ++at;
      continue;
    }
    if (decoded->size == 0 || at * 4 + decoded->size > words.size() * 4) __builtin_trap();
    static_cast<void>(to_text(*decoded));
    at += decoded->size / 4;
  }
  Program program;
  program.set = set;
  program.options.wide = is_gfx9(set) || (choice & 0x80) != 0;
  build_program(program, words, 0);
  if (!words.empty()) static_cast<void>(program.first_unsupported(0));
}

[[maybe_unused]] void compressed(std::span<const std::byte> bytes) {
  std::vector<std::byte> bundle;
  std::string problem;
  if (!cass::hip::is_compressed_bundle(bytes)) return;
  if (!cass::hip::expand_bundle(bytes, bundle, problem) && problem.empty()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
#if defined(CASS_FUZZ_CODE_OBJECT)
  code_object(bytes);
#elif defined(CASS_FUZZ_CODE)
  code(bytes);
#else
  compressed(bytes);
#endif
  return 0;
}
