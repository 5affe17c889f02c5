// The part of MessagePack that code object metadata uses: a bounds-checked tree reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cass::amdgpu::msgpack {

struct Value {
  enum class Kind : std::uint8_t { nil, boolean, integer, text, array, map };
  Kind kind = Kind::nil;
  std::int64_t integer = 0;   // booleans too
  std::string_view text;      // points into the input
  std::vector<Value> items;   // arrays; maps: key, value, key, value, ...

  const Value* find(std::string_view key) const;  // null if this is no map or has no such key
};

// Empty on malformed or cut-off input, or nesting deeper than 64.
std::optional<Value> parse(std::span<const std::byte> bytes);

}  // namespace cass::amdgpu::msgpack
