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
constexpr std::uint64_t zero_share = 2;  // of zeros among inputs, in one of the runs
constexpr std::uint64_t share_of_few = 3;  // for at most this many bytes:
constexpr std::size_t few_bytes = 16;

std::byte* left_by_host(const std::byte* address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uint64_t>(address) + distance);
}

bool by_kernel(const std::byte* start, std::ptrdiff_t bytes) {
  return std::memcmp(start, left_by_host(start), static_cast<std::size_t>(bytes)) != 0;
}

// `action` on the part of each group that lies in `bytes` from a place with this offset on: where
// the group starts, where the part does, both from the first byte on, and the part's size. Groups
// count from the start of the named memory, because variables lie at other addresses in a port.
template <class Action>
void for_groups(std::uint64_t offset, std::size_t bytes, Action action) {
  const auto end = static_cast<std::ptrdiff_t>(bytes);
  for (std::ptrdiff_t at = -static_cast<std::ptrdiff_t>(offset % group); at < end; at += group) {
    const std::ptrdiff_t first = std::max<std::ptrdiff_t>(at, 0);
    const std::ptrdiff_t last = std::min<std::ptrdiff_t>(at + group, end);
    action(at, first, last - first);
  }
}

// Another value of the same kind: half of a small integer, which is still an index where the whole
// one was; another mantissa of what looks like a float. Zero and one stay (nothing becomes a
// divisor or a number of threads that is zero), and so do the numbers that stand for no index: -1
// and both ends of the integers.
std::uint32_t altered(std::uint32_t word) {
  constexpr std::uint32_t small = 1U << 20U;
  constexpr std::uint32_t mantissa_bit = 1U << 21U;
  constexpr std::uint32_t lowest = 1U << 31U;
  if (word == lowest || word == lowest - 1) return word;
  if (word < small) return word == 1 ? 1 : word / 2;
  if (word >= -small) return static_cast<std::uint32_t>(static_cast<std::int32_t>(word) >> 1);
  return word ^ mantissa_bit;
}

// With the uppermost bit of each byte, where none has it and none is zero: letters, pixels and
// small steps, which a program may read as signed or as unsigned bytes. Of others another value.
std::uint32_t with_signs(std::uint32_t word) {
  constexpr std::uint32_t signs = 0x80808080;
  const bool of_bytes = (word & signs) == 0 && ((word + ~signs) & signs) == signs;
  return of_bytes ? word | signs : altered(word);
}

// With another sign: of an integer of few bits, else of what looks like a float.
std::uint32_t negated(std::uint32_t word) {
  constexpr std::uint32_t small = 1U << 20U;
  constexpr std::uint32_t sign = 1U << 31U;
  if (word == sign || word == sign - 1 || word <= 1 || word == -1U) return word;
  return word < small || word > -small ? -word : word ^ sign;
}

// A small integer, with bits in its upper half. Of a number that was rounded the upper half is not
// zero; nor does half of an eight-byte integer, which would be a size beyond all memory, change.
std::uint32_t widened(std::uint32_t word) {
  constexpr std::uint32_t half = 1U << 16U;
  return word != 0 && word < half ? word | (5U * half) : word;
}

std::uint32_t word_at(const std::byte* address) {
  std::uint32_t word = 0;
  std::memcpy(&word, address, sizeof word);
  return word;
}

bool is_upper_half(std::uint32_t word) { return amdgpu::in_aperture(std::uint64_t{word} << 32U); }

// The bytes of a place with this offset in named memory, or a copy of them. Positions count from
// the first of them.
class Content {
 public:
  Content(const std::byte* start, std::size_t bytes, std::uint64_t offset)
      : start_(start), end_(static_cast<std::ptrdiff_t>(bytes)), offset_(offset) {}

  bool is_zero(std::ptrdiff_t at) const {
    return is_whole(at) && word_at(start_ + at) == 0 && word_at(start_ + at + half) == 0;
  }

  // Whether the group at `at` must stay as it is: a changed pointer would end the program.
  bool is_kept(std::ptrdiff_t at) const {
    return holds_pointer(at) || (is_zero(at) && holds_pointers());
  }

  // The group beside the one at `at`, where it lies in the bytes and holds no pointer.
  const std::byte* neighbor_of(std::ptrdiff_t at) const { return near(at, 1); }

  // The nearest group that is not zero, of those that lie in one block with the one at `at`.
  const std::byte* nonzero_near(std::ptrdiff_t at) const {
    constexpr std::uint64_t groups_of_block = 32;
    for (std::uint64_t apart = 1; apart < groups_of_block; ++apart) {
      const std::byte* found = near(at, apart);
      if (found != nullptr && !is_zero(found - start_)) return found;
    }
    return nullptr;
  }

 private:
  static constexpr std::ptrdiff_t half = 4;

  // So far away that two groups are each other's: where a copy begins and ends does not matter.
  const std::byte* near(std::ptrdiff_t at, std::uint64_t apart) const {
    const auto position = static_cast<std::ptrdiff_t>(
        ((offset_ + static_cast<std::uint64_t>(at)) ^ (apart * group)) - offset_);
    return is_whole(position) && !holds_pointer(position) ? start_ + position : nullptr;
  }

  bool is_whole(std::ptrdiff_t at) const { return at >= 0 && at + std::ptrdiff_t{group} <= end_; }

  // Whether a pointer or a part of one lies in the group. Kernels read pointers at multiples of 8
  // bytes, or as halves at multiples of 4. Those of the host are told by where Linux puts programs,
  // their heaps and libraries on x86-64, at multiples of 8.
  bool holds_pointer(std::ptrdiff_t at) const {
    // The word behind the group may be the upper half to its last one.
    for (std::ptrdiff_t word = at; word <= at + std::ptrdiff_t{group}; word += half) {
      if (word >= 0 && word + half <= end_ && is_upper_half(word_at(start_ + word))) return true;
    }
    if (!is_whole(at)) return false;
    const std::uint32_t upper = word_at(start_ + at + half);
    const bool of_program = upper >= 0x5555 && upper < 0x6556;
    const bool of_library = upper >= 0x7e00 && upper < 0x8000;
    return (of_program || of_library) && word_at(start_ + at) % group == 0;
  }

  bool holds_pointers() const {
    if (!holds_pointers_) {
      holds_pointers_ = false;
      for_groups(offset_, static_cast<std::size_t>(end_), [&](std::ptrdiff_t at, auto, auto) {
        holds_pointers_ = *holds_pointers_ || holds_pointer(at);
      });
    }
    return *holds_pointers_;
  }

  const std::byte* start_;
  std::ptrdiff_t end_;
  std::uint64_t offset_;
  mutable std::optional<bool> holds_pointers_;
};

enum class Data {
  results,  // which differ by rounding in a program and its port: set to zero
  inputs,  // which are the same bits in both: altered
  other_inputs,  // the same, as bytes with signs; zeros become what lies near them
  opposite_inputs,  // the same: negated
  integers,  // small ones among results: widened
};

// One rule for changes: what becomes of the groups of a place in named memory.
class Rule {
 public:
  // A rule that changes some groups; which ones follows from the seed.
  static Rule some(std::uint64_t seed, MemoryPlace place, std::size_t bytes, std::uint64_t share,
                   Data data) {
    return {mixed(seed ^ mixed(place.key)), place.offset, bytes <= few_bytes ? share_of_few : share,
            data};
  }
  // A rule that changes all groups.
  static Rule all(Data data) { return {0, 0, 1, data}; }

  // `target` holds `count` bytes of the group at `at` of `content`.
  void apply(std::byte* target, std::ptrdiff_t at, std::ptrdiff_t count,
             const Content& content) const {
    const auto number = (offset_ + static_cast<std::uint64_t>(at + std::ptrdiff_t{group})) / group;
    const std::uint64_t random = mixed(seed_ ^ number);
    if (data_ == Data::other_inputs && count == std::ptrdiff_t{group} && content.is_zero(at)) {
      const std::byte* other = random % zero_share == 0 ? content.nonzero_near(at) : nullptr;
      if (other != nullptr && !content.is_kept(at)) std::memcpy(target, other, group);
      return;
    }
    const std::uint64_t drawn = random % share_;
    if (drawn > 1 || content.is_kept(at)) return;
    if (data_ == Data::integers) {
      change_words(target, count, widened);
      return;
    }
    const std::byte* neighbor = content.neighbor_of(at);
    if (drawn == 1 && neighbor != nullptr && count == std::ptrdiff_t{group}) {
      std::memcpy(target, neighbor, group);
    } else if (data_ == Data::inputs) {
      change_words(target, count, altered);
    } else if (data_ == Data::other_inputs) {
      change_words(target, count, with_signs);
    } else if (data_ == Data::opposite_inputs) {
      change_words(target, count, negated);
    } else {
      std::memset(target, 0, static_cast<std::size_t>(count));
    }
  }

 private:
  template <class Change>
  static void change_words(std::byte* target, std::ptrdiff_t count, Change changed) {
    for (std::ptrdiff_t word = 0; word + 4 <= count; word += 4) {
      const std::uint32_t value = changed(word_at(target + word));
      std::memcpy(target + word, &value, sizeof value);
    }
  }

  Rule(std::uint64_t seed, std::uint64_t offset, std::uint64_t share, Data data)
      : seed_(seed), offset_(offset), share_(share), data_(data) {}

  std::uint64_t seed_;
  std::uint64_t offset_;
  std::uint64_t share_;
  Data data_;
};

Rule of_inputs(const Perturbation::Request& request, MemoryPlace place, std::size_t bytes) {
  if (request.where == Where::in_all) return Rule::all(Data::inputs);
  constexpr Data kinds[] = {Data::inputs, Data::other_inputs, Data::opposite_inputs};
  const Data kind = kinds[(request.seed + std::size(kinds) - 1) % std::size(kinds)];
  return Rule::some(request.seed, place, bytes, in_share, kind);
}

Rule of_results(const Perturbation::Request& request, MemoryPlace place, std::size_t bytes) {
  if (request.where == Where::out_all) return Rule::all(Data::results);
  if (request.where == Where::out_wide) return Rule::all(Data::integers);
  return Rule::some(request.seed, place, bytes, out_share, Data::results);
}

// What is not as it was `before`.
void change_shared(const Perturbation::Block& block, const std::byte* before, const Rule& rule) {
  const Content content(block.start, block.bytes, 0);
  for_groups(0, block.bytes, [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
    std::byte* target = block.start + first;
    if (std::memcmp(target, before + first, static_cast<std::size_t>(count)) == 0) return;
    rule.apply(target, at, count, content);
  });
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
  if (name == "out-all" || name == "out-wide" || name == "in-all") {
    request.where = name == "in-all"    ? Where::in_all
                    : name == "out-all" ? Where::out_all
                                        : Where::out_wide;
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

bool Perturbation::changes_results() const {
  return changes_text() || request_.where == Where::out_wide;
}

bool Perturbation::changes_inputs() const {
  return request_.where == Where::in || request_.where == Where::in_all;
}

void Perturbation::arrived(std::byte* start, std::size_t bytes, MemoryPlace place) {
  if (!enabled()) return;
  transcript_->host_to_device(place, {start, bytes});
  if (changes_inputs()) {
    const std::vector<std::byte> copy(start, start + bytes);
    const Content given(copy.data(), bytes, place.offset);
    const Rule rule = of_inputs(request_, place, bytes);
    for_groups(place.offset, bytes,
               [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
                 rule.apply(start + first, at, count, given);
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
  for_groups(place.offset, bytes, [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t count) {
    if (by_kernel(from + first, count)) written += static_cast<std::uint64_t>(count);
  });
  transcript_->device_to_host(place, {from, bytes}, written);
  if (!changes_results() || written == 0) return;
  const Content content(from, bytes, place.offset);
  const Rule rule = of_results(request_, place, bytes);
  for_groups(place.offset, bytes,
             [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
               if (by_kernel(from + first, count)) rule.apply(target + first, at, count, content);
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
  const Content content(block.start, block.bytes, 0);
  const Rule rule =
      Rule::some(request_.seed, {block.key, 0}, block.bytes, between_share, Data::results);
  for_groups(0, block.bytes, [&](std::ptrdiff_t at, std::ptrdiff_t first, std::ptrdiff_t count) {
    std::byte* target = block.start + first;
    if (by_kernel(target, count)) rule.apply(target, at, count, content);
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
  if (!changes_inputs()) return;
  change_shared(block, seen.data(), of_inputs(request_, {block.key, 0}, block.bytes));
}

// What kernels wrote there has come back to the host.
void Perturbation::shared_after(const Snapshot& snapshot) {
  const Block& block = snapshot.block;
  const std::byte* before = snapshot.content.data();
  const auto range = changed_range(block.start, before, block.bytes);
  if (!range.empty()) {
    const MemoryPlace place{block.key, static_cast<std::uint64_t>(range.data() - block.start)};
    transcript_->shared_with_host(place, range);
    if (changes_results()) {
      change_shared(block, before, of_results(request_, {block.key, 0}, block.bytes));
    }
  }
  std::vector<std::byte>& seen = seen_[block.start];
  seen.assign(block.start, block.start + block.bytes);
}

}  // namespace cass::device
