// Sources: AMD's product pages and data sheets (RX 7900 XT, RX 9060 XT, RX 9070 XT, Instinct
// MI250X, MI300X and MI350X), and what AMD's runtime 6.2 fills in for them.
#include "device_kind.hpp"

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <string>
#include <vector>

#include "../engine/engine.hpp"
#include "errors.hpp"
#include "module.hpp"

namespace cass::hip {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr int of_l2 = 1 << 20;

constexpr DeviceKind kinds[] = {
    {.processor = "gfx1100",
     .architecture = "gfx1100",
     .name = "AMD Radeon RX 7900 XT",
     .major = 11,
     .minor = 0,
     .warp_size = 32,
     .multiprocessors = 42,
     .physical_compute_units = 84,
     .threads_per_multiprocessor = 2048,
     .clock_khz = 2'400'000,
     .memory_clock_khz = 1'250'000,  // 20 Gbit/s GDDR6
     .memory_bus_bits = 320,
     .l2_bytes = 6 * of_l2,
     .memory_bytes = 20464 * mebibyte},  // of 20 GiB
    {.processor = "gfx90a",
     .architecture = "gfx90a:sramecc+:xnack-",
     .name = "AMD Instinct MI250X",  // one of its two dies
     .major = 9,
     .minor = 0,
     .warp_size = 64,
     .multiprocessors = 110,
     .physical_compute_units = 110,
     .threads_per_multiprocessor = 2048,
     .clock_khz = 1'700'000,
     .memory_clock_khz = 1'600'000,
     .memory_bus_bits = 4096,
     .l2_bytes = 8 * of_l2,
     .memory_bytes = 65520 * mebibyte},
    {.processor = "gfx942",
     .architecture = "gfx942:sramecc+:xnack-",
     .name = "AMD Instinct MI300X",
     .major = 9,
     .minor = 4,
     .warp_size = 64,
     .multiprocessors = 304,
     .physical_compute_units = 304,
     .threads_per_multiprocessor = 2048,
     .clock_khz = 2'100'000,
     .memory_clock_khz = 1'300'000,
     .memory_bus_bits = 8192,
     .l2_bytes = 4 * of_l2,  // of each of its eight dies
     .memory_bytes = 196592 * mebibyte},
    {.processor = "gfx950",
     .architecture = "gfx950:sramecc+:xnack-",
     .name = "AMD Instinct MI350X",
     .major = 9,
     .minor = 5,
     .warp_size = 64,
     .multiprocessors = 256,
     .physical_compute_units = 256,
     .threads_per_multiprocessor = 2048,
     .clock_khz = 2'200'000,
     .memory_clock_khz = 2'000'000,
     .memory_bus_bits = 8192,
     .l2_bytes = 4 * of_l2,  // of each of its eight dies
     .memory_bytes = 294896 * mebibyte,  // of 288 GiB
     .shared_bytes = 160 << 10},
    {.processor = "gfx1200",
     .architecture = "gfx1200",
     .name = "AMD Radeon RX 9060 XT",
     .major = 12,
     .minor = 0,
     .warp_size = 32,
     .multiprocessors = 16,
     .physical_compute_units = 32,
     .threads_per_multiprocessor = 2048,
     .clock_khz = 3'130'000,
     .memory_clock_khz = 1'250'000,  // 20 Gbit/s GDDR6
     .memory_bus_bits = 128,
     .l2_bytes = 4 * of_l2,
     .memory_bytes = 16304 * mebibyte},  // of 16 GiB
    {.processor = "gfx1201",
     .architecture = "gfx1201",
     .name = "AMD Radeon RX 9070 XT",
     .major = 12,
     .minor = 0,
     .warp_size = 32,
     .multiprocessors = 32,
     .physical_compute_units = 64,
     .threads_per_multiprocessor = 2048,
     .clock_khz = 2'970'000,
     .memory_clock_khz = 1'250'000,  // 20 Gbit/s GDDR6
     .memory_bus_bits = 256,
     .l2_bytes = 8 * of_l2,
     .memory_bytes = 16304 * mebibyte},  // of 16 GiB
};

constexpr std::size_t most_devices = 16;

// The same card with another name and other sizes: what a program prints of them is then known to
// depend on the card.
DeviceKind varied(const DeviceKind& kind) {
  DeviceKind other = kind;
  // As many words: outputs are compared word by word.
  other.name = *new std::string("Varied" + std::string(kind.name.substr(kind.name.find(' '))));
  other.minor += 1;
  other.multiprocessors += 2;
  other.physical_compute_units += 2;
  other.clock_khz += other.clock_khz / 3;
  other.memory_clock_khz += other.memory_clock_khz / 3;
  other.memory_bus_bits *= 2;
  other.l2_bytes *= 2;
  other.memory_bytes -= other.memory_bytes / 3 / mebibyte * mebibyte;
  other.time_factor = 1000;  // so much that no rounding hides it
  return other;
}

// A card that runs code for `kind` and says of itself what `other` says. It keeps what its code
// depends on: the processor, the architecture, the width of its wavefronts.
DeviceKind shown_as(const DeviceKind& kind, const DeviceKind& other) {
  DeviceKind made = other;
  made.processor = kind.processor;
  made.architecture = kind.architecture;
  made.warp_size = kind.warp_size;
  return made;
}

const DeviceKind* find(std::string_view processor) {
  if (processor.ends_with('+')) {
    processor.remove_suffix(1);
    const DeviceKind* kind = find(processor);
    return kind == nullptr ? nullptr : new DeviceKind(varied(*kind));  // for the whole process
  }
  if (const auto sign = processor.find('='); sign != std::string_view::npos) {
    const DeviceKind* kind = find(processor.substr(0, sign));
    const DeviceKind* other = find(processor.substr(sign + 1));
    if (kind == nullptr || other == nullptr) return nullptr;
    return new DeviceKind(shown_as(*kind, *other));
  }
  const auto* found = std::ranges::find(kinds, processor, &DeviceKind::processor);
  return found == std::end(kinds) ? nullptr : found;
}

[[noreturn]] void refuse(const std::string& problem) {
  report("CASS_DEVICES " + problem);
  std::exit(EXIT_FAILURE);
}

std::vector<const DeviceKind*> named(std::string_view list) {
  std::vector<const DeviceKind*> found;
  for (const auto part : std::views::split(list, ',')) {
    const std::string_view processor(part.begin(), part.end());
    const DeviceKind* kind = find(processor);
    if (kind == nullptr) {
      std::string known;
      for (const DeviceKind& other : kinds) known += " " + std::string(other.processor);
      refuse("names " + std::string(processor) + "; known:" + known);
    }
    found.push_back(kind);
  }
  if (found.size() > most_devices) refuse("names more than 16 devices");
  return found;
}

std::vector<const DeviceKind*> choose() {
  if (const char* names = std::getenv("CASS_DEVICES"); names != nullptr && *names != '\0') {
    return named(names);
  }
  const std::string processor = Program::instance().processor();
  // Those of a family run each other's code.
  for (const DeviceKind& kind : kinds) {
    if (!processor.empty() && amdgpu::runs_on(processor, kind.processor)) return {&kind};
  }
  return {&kinds[0]};
}

}  // namespace

std::span<const DeviceKind* const> device_kinds() {
  static const auto& chosen = *new std::vector<const DeviceKind*>(choose());
  return chosen;
}

}  // namespace cass::hip
