#include "msgpack.hpp"

namespace cass::amdgpu::msgpack {
namespace {

constexpr unsigned max_depth = 64;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool value(Value& out, unsigned depth) {
    std::uint64_t tag = 0;
    if (depth > max_depth || !number(1, tag)) return false;
    if (tag < 0x80) return integer(out, static_cast<std::int64_t>(tag));
    if (tag < 0x90) return items(out, Value::Kind::map, 2 * (tag & 0xF), depth);
    if (tag < 0xA0) return items(out, Value::Kind::array, tag & 0xF, depth);
    if (tag < 0xC0) return text(out, tag & 0x1F);
    if (tag >= 0xE0) return integer(out, static_cast<std::int8_t>(tag));
    return extended(out, static_cast<unsigned>(tag), depth);
  }

 private:
  bool extended(Value& out, unsigned tag, unsigned depth) {
    std::uint64_t n = 0;
    switch (tag) {
      case 0xC0: return true;
      case 0xC2:
      case 0xC3:
        out.kind = Value::Kind::boolean;
        out.integer = tag & 1;
        return true;
      case 0xC4:
      case 0xC5:
      case 0xC6: return number(1U << (tag - 0xC4), n) && text(out, n);
      case 0xCA: return number(4, n);
      case 0xCB: return number(8, n);
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF: return number(1U << (tag - 0xCC), n) && integer(out, static_cast<std::int64_t>(n));
      case 0xD0: return number(1, n) && integer(out, static_cast<std::int8_t>(n));
      case 0xD1: return number(2, n) && integer(out, static_cast<std::int16_t>(n));
      case 0xD2: return number(4, n) && integer(out, static_cast<std::int32_t>(n));
      case 0xD3: return number(8, n) && integer(out, static_cast<std::int64_t>(n));
      case 0xD9:
      case 0xDA:
      case 0xDB: return number(1U << (tag - 0xD9), n) && text(out, n);
      case 0xDC: return number(2, n) && items(out, Value::Kind::array, n, depth);
      case 0xDD: return number(4, n) && items(out, Value::Kind::array, n, depth);
      case 0xDE: return number(2, n) && items(out, Value::Kind::map, 2 * n, depth);
      case 0xDF: return number(4, n) && items(out, Value::Kind::map, 2 * n, depth);
      default: return false;
    }
  }

  bool number(unsigned count, std::uint64_t& out) {
    if (bytes_.size() - at_ < count) return false;
    out = 0;
    for (unsigned i = 0; i < count; ++i) out = out << 8 | std::to_integer<unsigned>(bytes_[at_++]);
    return true;
  }

  static bool integer(Value& out, std::int64_t value) {
    out.kind = Value::Kind::integer;
    out.integer = value;
    return true;
  }

  bool text(Value& out, std::uint64_t count) {
    if (bytes_.size() - at_ < count) return false;
    out.kind = Value::Kind::text;
    out.text = {reinterpret_cast<const char*>(bytes_.data()) + at_, count};
    at_ += count;
    return true;
  }

  bool items(Value& out, Value::Kind kind, std::uint64_t count, unsigned depth) {
    if (bytes_.size() - at_ < count) return false;  // an item takes a byte at least
    out.kind = kind;
    out.items.resize(count);
    for (Value& item : out.items) {
      if (!value(item, depth + 1)) return false;
    }
    return true;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

const Value* Value::find(std::string_view key) const {
  if (kind != Kind::map) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::text && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

std::optional<Value> parse(std::span<const std::byte> bytes) {
  Value value;
  if (!Reader(bytes).value(value, 0)) return std::nullopt;
  return value;
}

}  // namespace cass::amdgpu::msgpack
