#include "handlers.hpp"

#include <span>

#include "environment.hpp"

extern "C" {
#define LEVEL(name)                                                \
  extern cass::amdgpu::HandlerEntry __start_cass_emulator_##name[] \
      __attribute__((weak, visibility("hidden")));                 \
  extern cass::amdgpu::HandlerEntry __stop_cass_emulator_##name[]  \
      __attribute__((weak, visibility("hidden")));
LEVEL(portable)
LEVEL(avx2)
LEVEL(avx512)
#undef LEVEL
}

namespace cass::amdgpu {
namespace {

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

HandlerSet make_set(std::string_view level, std::span<const HandlerEntry> entries) {
  HandlerSet set;
  set.level = level;
  for (const HandlerEntry& entry : entries) {
    set.by_opcode[static_cast<unsigned>(entry.opcode)] = entry.handler;
  }
  return set;
}

HandlerSet choose() {
  const char* asked = emulator_variable("SIMD");
  const std::string_view limit = asked == nullptr ? "avx512" : asked;
#define ENTRIES(name) std::span(__start_cass_emulator_##name, __stop_cass_emulator_##name)
  const auto wide = ENTRIES(avx512);
  if (limit == "avx512" && has_avx512() && !wide.empty()) return make_set("avx512", wide);
  const auto medium = ENTRIES(avx2);
  if (limit != "portable" && has_avx2() && !medium.empty()) return make_set("avx2", medium);
  return make_set("portable", ENTRIES(portable));
#undef ENTRIES
}

}  // namespace

const HandlerSet& handlers() {
  static const HandlerSet set = choose();
  return set;
}

}  // namespace cass::amdgpu
