#include "device_printf.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "engine.hpp"

namespace cass::amdgpu {
namespace {

class Message {
 public:
  explicit Message(std::span<const std::uint64_t> words) : words_(words) {}

  std::optional<std::uint64_t> word() {
    if (at_ >= words_.size()) return std::nullopt;
    return words_[at_++];
  }

  std::optional<std::string> text() {
    const auto* start = reinterpret_cast<const char*>(words_.data() + at_);
    const std::size_t room = (words_.size() - at_) * 8;
    const std::size_t length = strnlen(start, room);
    if (length == room) return std::nullopt;
    at_ += (length + 8) / 8;
    return std::string(start, length);
  }

 private:
  std::span<const std::uint64_t> words_;
  std::size_t at_ = 0;
};

// One conversion such as "%-*.3lf", without its arguments.
struct Conversion {
  std::string text;
  char kind = 0;
  int stars = 0;
};

constexpr int largest_number = 1 << 16;  // of a width or precision

// Appends what `format` makes of its arguments. Formats are those that next_conversion() lets pass.
template <class... Arguments>
void append(std::string& out, const char* format, Arguments... arguments) {
  const int size = std::snprintf(nullptr, 0, format, arguments...);
  if (size <= 0) return;
  const std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(size) + 1);
  std::snprintf(out.data() + before, static_cast<std::size_t>(size) + 1, format, arguments...);
  out.pop_back();
}

template <class T>
void print_one(std::string& out, const Conversion& conversion, const int (&stars)[2], T value) {
  const char* format = conversion.text.c_str();
  switch (conversion.stars) {
    case 0: append(out, format, value); break;
    case 1: append(out, format, stars[0], value); break;
    default: append(out, format, stars[0], stars[1], value);
  }
}

// Integers come as 64 bits whatever their type: the length modifier cuts them. False where the
// message has no such argument.
bool print_conversion(std::string& out, const Conversion& conversion, Message& message) {
  int stars[2] = {0, 0};
  for (int k = 0; k < conversion.stars; ++k) {
    const auto star = message.word();
    if (!star) return false;
    stars[k] = std::clamp(static_cast<int>(*star), -largest_number, largest_number);
  }
  if (conversion.kind == 's') {
    const auto text = message.text();
    if (text) print_one(out, conversion, stars, text->c_str());
    return text.has_value();
  }
  const auto word = message.word();
  if (!word) return false;
  if (std::strchr("fFeEgGaA", conversion.kind) != nullptr) {
    double value = 0;
    std::memcpy(&value, &*word, sizeof value);
    print_one(out, conversion, stars, value);
  } else if (conversion.kind == 'c') {
    print_one(out, conversion, stars, static_cast<int>(*word));
  } else if (conversion.kind != 'n') {
    print_one(out, conversion, stars, *word);
  }
  return true;
}

// The conversion at `at`, which points at '%'; `at` moves behind it. Empty for what is none of C's:
// the format is the kernel's, and what printf of the host makes of others reads its own memory.
std::optional<Conversion> next_conversion(const std::string& format, std::size_t& at) {
  Conversion conversion;
  std::size_t next = at + 1;
  const auto here = [&] { return next < format.size() ? format[next] : '\0'; };
  const auto number = [&] {
    if (here() == '*') {
      ++conversion.stars;
      ++next;
      return true;
    }
    int value = 0;
    for (; here() >= '0' && here() <= '9' && value <= largest_number; ++next) {
      value = 10 * value + (here() - '0');
    }
    return value <= largest_number;
  };
  while (here() != '\0' && std::strchr("-+ #0", here()) != nullptr) ++next;
  if (!number()) return std::nullopt;
  if (here() == '.') {
    ++next;
    if (!number()) return std::nullopt;
  }
  const std::size_t length = next;
  while (here() != '\0' && std::strchr("hljztqL", here()) != nullptr) ++next;
  const std::string modifiers = format.substr(length, next - length);
  conversion.kind = here();
  if (conversion.kind == '\0' || std::strchr("diouxXfFeEgGaAcspn", conversion.kind) == nullptr) {
    return std::nullopt;
  }
  conversion.text = format.substr(at, length - at);
  // Long doubles do not occur ('L' would change how the value is passed), nor wide characters.
  if (std::strchr("diouxX", conversion.kind) != nullptr && modifiers != "L") {
    conversion.text += modifiers;
  }
  conversion.text += conversion.kind;
  at = next + 1;
  return conversion;
}

std::atomic<OutputSink> output_sink = nullptr;

// -1 where the message is damaged; what came before is printed.
int print_text(std::string& out, const std::string& format, Message& message) {
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t percent = std::min(format.find('%', at), format.size());
    out.append(format, at, percent - at);
    at = percent;
    if (at >= format.size()) break;
    if (format.compare(at, 2, "%%") == 0) {
      out += '%';
      at += 2;
      continue;
    }
    const auto conversion = next_conversion(format, at);
    if (!conversion || !print_conversion(out, *conversion, message)) return -1;
  }
  return static_cast<int>(out.size());
}

}  // namespace

void set_output_sink(OutputSink sink) { output_sink = sink; }

int print_message(std::span<const std::uint64_t> words) {
  Message message(words);
  const auto flags = message.word();
  if (!flags) return -1;
  const auto format = message.text();
  if (!format) return -1;
  std::string out;
  const int count = print_text(out, *format, message);
  if (const OutputSink sink = output_sink; sink != nullptr) sink((*flags & 1) != 0, out);
  return count;
}

}  // namespace cass::amdgpu
