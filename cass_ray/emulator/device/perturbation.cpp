#include "perturbation.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "../engine/device_memory.hpp"
#include "hash.hpp"

namespace cass::device {
namespace {

using Where = Perturbation::Request::Where;

constexpr std::size_t group = 8;
constexpr std::size_t page = 4096;

// What the host last left at a device address lies at a fixed distance from it.
constexpr std::uint64_t distance = 2 * amdgpu::aperture_size;

// Of so many groups one is set to zero (inputs: altered) and one becomes its neighbor.
constexpr std::uint64_t out_share = 8;
constexpr std::uint64_t in_share = 16;
constexpr std::uint64_t between_share = 32;
constexpr std::uint64_t share_of_few = 3;  // for at most this many bytes:
constexpr std::size_t few_bytes = 16;

std::byte* left_by_host(const std::byte* address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uint64_t>(address) + distance);
}

bool by_kernel(const std::byte* start) {
  return std::memcmp(start, left_by_host(start), group) != 0;
}

// `action` on the part of each aligned group that lies in [start, start + bytes), as an offset from
// `start` and a count, and on where the group starts, as an offset from `start`.
template <class Action>
void for_groups(const std::byte* start, std::size_t bytes, Action action) {
  const auto misaligned =
      static_cast<std::ptrdiff_t>(reinterpret_cast<std::uint64_t>(start) % group);
  const auto end = static_cast<std::ptrdiff_t>(bytes);
  for (std::ptrdiff_t at = -misaligned; at < end; at += group) {
    const std::ptrdiff_t first = std::max<std::ptrdiff_t>(at, 0);
    const std::ptrdiff_t last = std::min<std::ptrdiff_t>(at + group, end);
    action(at, first, last - first);
  }
}

// Another value of the same kind: half of a small integer, which is still an index where the whole
// one was; another mantissa of what looks like a float. Zero stays zero.
std::uint32_t altered(std::uint32_t word) {
  constexpr std::uint32_t small = 1U << 20U;
  constexpr std::uint32_t mantissa_bit = 1U << 21U;
  return word < small ? word / 2 : word ^ mantissa_bit;
}

// One rule for changes of some groups: what becomes of the group at an offset in a named memory.
class Choice {
 public:
  enum class Kind {
    results,  // which differ by rounding in a program and its port: zero
    inputs,  // which are the same bits in both: altered
  };
  Choice(std::uint64_t seed, MemoryPlace place, std::size_t bytes, std::uint64_t share,
         Kind kind = Kind::results)
      : seed_(mixed(seed ^ mixed(place.key))),
        offset_(place.offset),
        share_(bytes <= few_bytes ? share_of_few : share),
        kind_(kind) {}

  // `target` holds `count` bytes of the group at `at`, both offsets from the place; `neighbor` is
  // the group beside it, or null where that is not there whole.
  void apply(std::byte* target, std::ptrdiff_t at, std::ptrdiff_t count,
             const std::byte* neighbor) const {
    const auto number = (offset_ + static_cast<std::uint64_t>(at + std::ptrdiff_t{group})) / group;
    const std::uint64_t drawn = mixed(seed_ ^ number) % share_;
    if (drawn > 1) return;
    if (drawn == 1 && neighbor != nullptr && count == std::ptrdiff_t{group}) {
      std::memcpy(target, neighbor, group);
    } else if (kind_ == Kind::inputs) {
      for (std::ptrdiff_t word = 0; word + 4 <= count; word += 4) {
        std::uint32_t value = 0;
        std::memcpy(&value, target + word, sizeof value);
        value = altered(value);
        std::memcpy(target + word, &value, sizeof value);
      }
    } else {
      std::memset(target, 0, static_cast<std::size_t>(count));
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t offset_;
  std::uint64_t share_;
  Kind kind_;
};

// The group beside the one at `at` (an offset from `start`), where both lie in the bytes.
const std::byte* neighbor_of(const std::byte* start, std::ptrdiff_t at, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(start + at) ^ group;
  const auto offset = static_cast<std::ptrdiff_t>(address - reinterpret_cast<std::uint64_t>(start));
  const bool inside =
      offset >= 0 && offset + std::ptrdiff_t{group} <= static_cast<std::ptrdiff_t>(bytes);
  return inside ? start + offset : nullptr;
}

bool read_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// From the first byte that differs to the last; empty where none does.
std::span<const std::byte> changed_range(const std::byte* now, const std::byte* before,
                                         std::size_t bytes) {
  const auto first = static_cast<std::size_t>(std::mismatch(now, now + bytes, before).first - now);
  if (first == bytes) return {};
  std::size_t last = bytes;
  while (now[last - 1] == before[last - 1]) --last;
  return {now + first, last - first};
}

}  // namespace

std::optional<Perturbation::Request> Perturbation::parse(std::string_view text) {
  Request request;
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::string_view numbers = colon == text.npos ? "" : text.substr(colon + 1);
  if (name == "out-all" || name == "in-all") {
    request.where = name == "in-all" ? Where::in_all : Where::out_all;
    return colon == text.npos ? std::optional(request) : std::nullopt;
  }
  if (name == "between") {
    const auto second = numbers.find(':');
    if (second == numbers.npos || !read_number(numbers.substr(second + 1), request.launch)) {
      return std::nullopt;
    }
    numbers = numbers.substr(0, second);
    request.where = Where::between;
  } else if (name == "in" || name == "out") {
    request.where = name == "in" ? Where::in : Where::out;
  } else {
    return std::nullopt;
  }
  return read_number(numbers, request.seed) ? std::optional(request) : std::nullopt;
}

bool Perturbation::enable(const Request& request, Transcript& transcript) {
  void* wanted = reinterpret_cast<void*>(amdgpu::device_range + distance);
  void* memory = ::mmap(wanted, amdgpu::device_range_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory != wanted) return false;
  request_ = request;
  transcript_ = &transcript;
  return true;
}

bool Perturbation::changes_text() const {
  return request_.where == Where::out || request_.where == Where::out_all;
}

void Perturbation::arrived(std::byte* start, std::size_t bytes, MemoryPlace place) {
  if (!enabled()) return;
  transcript_->host_to_device(place, {start, bytes});
  if (request_.where == Where::in_all) std::memset(start, 0, bytes);
  if (request_.where == Where::in) {
    const std::vector<std::byte> given(start, start + bytes);
    const Choice choice(request_.seed, place, bytes, in_share, Choice::Kind::inputs);
    for_groups(start, bytes, [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
      const std::byte* neighbor = neighbor_of(start, at, bytes);
      choice.apply(start + first, at, count,
                   neighbor == nullptr ? nullptr : given.data() + (neighbor - start));
    });
  }
  host_wrote(start, bytes);
}

void Perturbation::host_wrote(const std::byte* start, std::size_t bytes) {
  if (enabled() && amdgpu::in_device_range(start)) std::memcpy(left_by_host(start), start, bytes);
}

void Perturbation::forget(const std::byte* start, std::size_t bytes) {
  if (!enabled()) return;
  {
    const std::lock_guard lock(guard_);
    seen_.erase(start);
  }
  if (!amdgpu::in_device_range(start)) return;
  ::madvise(left_by_host(start), (bytes + page - 1) / page * page, MADV_DONTNEED);
}

void Perturbation::moved(const std::byte* to, const std::byte* from, std::size_t bytes) {
  if (enabled()) std::memmove(left_by_host(to), left_by_host(from), bytes);
}

void Perturbation::returned(std::byte* target, const std::byte* from, std::size_t bytes,
                            MemoryPlace place) {
  if (!enabled()) return;
  std::uint64_t written = 0;
  for_groups(from, bytes, [&](std::ptrdiff_t at, std::ptrdiff_t, std::ptrdiff_t count) {
    // Blocks are whole pages: a group that begins in one ends in it.
    if (by_kernel(from + at)) written += static_cast<std::uint64_t>(count);
  });
  transcript_->device_to_host(place, {from, bytes}, written);
  if (!changes_text() || written == 0) return;
  const Choice choice(request_.seed, place, bytes, out_share);
  for_groups(from, bytes, [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
    if (!by_kernel(from + at)) return;
    if (request_.where == Where::out_all) {
      std::memset(target + first, 0, static_cast<std::size_t>(count));
    } else {
      choice.apply(target + first, at, count, neighbor_of(from, at, bytes));
    }
  });
}

void Perturbation::before_launch(const std::vector<Block>& blocks) {
  if (!enabled()) return;
  const std::lock_guard lock(guard_);
  const std::uint64_t number = launches_++;
  if (request_.where == Where::between && number == request_.launch) {
    for (const Block& block : blocks) {
      if (!block.shared) between_kernels(block);
    }
  }
  if (running_++ != 0) return;
  for (const Block& block : blocks) {
    if (!block.shared) continue;
    shared_before(block);
    snapshots_.push_back({block, {block.start, block.start + block.bytes}});
  }
}

void Perturbation::after_launch() {
  if (!enabled()) return;
  const std::lock_guard lock(guard_);
  if (--running_ != 0) return;
  const auto& memory = amdgpu::DeviceMemory::instance();
  const auto in_use = memory.in_use();
  for (const Snapshot& snapshot : snapshots_) {
    const auto address = reinterpret_cast<std::uint64_t>(snapshot.block.start);
    // It may be released meanwhile.
    if (memory.holds(address, snapshot.block.bytes)) shared_after(snapshot);
  }
  snapshots_.clear();
}

void Perturbation::between_kernels(const Block& block) {
  const Choice choice(request_.seed, {block.key, 0}, block.bytes, between_share);
  for_groups(
      block.start, block.bytes, [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
        if (!by_kernel(block.start + at)) return;
        choice.apply(block.start + first, at, count, neighbor_of(block.start, at, block.bytes));
      });
}

// What the host wrote directly since the last launch is data on its way to the device.
void Perturbation::shared_before(const Block& block) {
  std::vector<std::byte>& seen = seen_[block.start];
  seen.resize(block.bytes);
  const auto range = changed_range(block.start, seen.data(), block.bytes);
  if (range.empty()) return;
  const MemoryPlace place{block.key, static_cast<std::uint64_t>(range.data() - block.start)};
  transcript_->shared_with_device(place, range);
  const bool all = request_.where == Where::in_all;
  if (!all && request_.where != Where::in) return;
  const Choice choice(request_.seed, {block.key, 0}, block.bytes, in_share, Choice::Kind::inputs);
  for_groups(block.start, block.bytes,
             [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
               std::byte* target = block.start + first;
               const auto bytes = static_cast<std::size_t>(count);
               if (std::memcmp(target, seen.data() + first, bytes) == 0) return;
               if (all) {
                 std::memset(target, 0, bytes);
               } else {
                 choice.apply(target, at, count, neighbor_of(block.start, at, block.bytes));
               }
             });
}

// What kernels wrote there has come back to the host.
void Perturbation::shared_after(const Snapshot& snapshot) {
  const Block& block = snapshot.block;
  const std::byte* before = snapshot.content.data();
  const auto range = changed_range(block.start, before, block.bytes);
  if (!range.empty()) {
    const MemoryPlace place{block.key, static_cast<std::uint64_t>(range.data() - block.start)};
    transcript_->shared_with_host(place, range);
    if (changes_text()) {
      const Choice choice(request_.seed, {block.key, 0}, block.bytes, out_share);
      for_groups(block.start, block.bytes,
                 [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
                   std::byte* target = block.start + first;
                   const auto bytes = static_cast<std::size_t>(count);
                   if (std::memcmp(target, before + first, bytes) == 0) return;
                   if (request_.where == Where::out_all) {
                     std::memset(target, 0, bytes);
                   } else {
                     choice.apply(target, at, count, neighbor_of(block.start, at, block.bytes));
                   }
                 });
    }
  }
  std::vector<std::byte>& seen = seen_[block.start];
  seen.assign(block.start, block.start + block.bytes);
}

}  // namespace cass::device
