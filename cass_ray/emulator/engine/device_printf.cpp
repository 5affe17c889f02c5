#include "device_printf.hpp"

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

namespace cass::rdna3 {
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

template <class T>
int print_one(std::FILE* to, const Conversion& conversion, const int (&stars)[2], T value) {
  const char* format = conversion.text.c_str();
  switch (conversion.stars) {
    case 0: return std::fprintf(to, format, value);
    case 1: return std::fprintf(to, format, stars[0], value);
    default: return std::fprintf(to, format, stars[0], stars[1], value);
  }
}

// Integers come as 64 bits whatever their type: the length modifier cuts them.
int print_conversion(std::FILE* to, const Conversion& conversion, Message& message) {
  int stars[2] = {0, 0};
  for (int k = 0; k < conversion.stars; ++k) {
    const auto star = message.word();
    if (!star) return -1;
    stars[k] = static_cast<int>(*star);
  }
  if (conversion.kind == 's') {
    const auto text = message.text();
    return text ? print_one(to, conversion, stars, text->c_str()) : -1;
  }
  const auto word = message.word();
  if (!word) return -1;
  if (std::strchr("fFeEgGaA", conversion.kind) != nullptr) {
    double value = 0;
    std::memcpy(&value, &*word, sizeof value);
    return print_one(to, conversion, stars, value);
  }
  if (conversion.kind == 'n') return 0;
  if (conversion.kind == 'c') return print_one(to, conversion, stars, static_cast<int>(*word));
  return print_one(to, conversion, stars, *word);
}

// The conversion at `at`, which points at '%'; `at` moves behind it. Empty where it has no end.
std::optional<Conversion> next_conversion(const std::string& format, std::size_t& at) {
  const std::size_t end = format.find_first_of("diouxXfFeEgGaAcspn", at + 1);
  if (end == std::string::npos) return std::nullopt;
  Conversion conversion;
  conversion.text = format.substr(at, end - at + 1);
  conversion.kind = format[end];
  for (const char letter : conversion.text) conversion.stars += letter == '*';
  at = end + 1;
  if (conversion.stars > 2) return std::nullopt;
  // OpenCL vectors and long doubles do not occur; 'L' would change how the value is passed.
  std::erase(conversion.text, 'L');
  return conversion;
}

}  // namespace

int print_message(std::span<const std::uint64_t> words) {
  Message message(words);
  const auto flags = message.word();
  if (!flags) return -1;
  const auto format = message.text();
  if (!format) return -1;
  std::FILE* to = (*flags & 1) != 0 ? stderr : stdout;
  int count = 0;
  for (std::size_t at = 0; at < format->size();) {
    const std::size_t percent = std::min(format->find('%', at), format->size());
    count += static_cast<int>(std::fwrite(format->data() + at, 1, percent - at, to));
    at = percent;
    if (at >= format->size()) break;
    if (format->compare(at, 2, "%%") == 0) {
      std::fputc('%', to);
      ++count;
      at += 2;
      continue;
    }
    const auto conversion = next_conversion(*format, at);
    if (!conversion) return -1;
    const int printed = print_conversion(to, *conversion, message);
    if (printed < 0) return -1;
    count += printed;
  }
  return count;
}

}  // namespace cass::rdna3
