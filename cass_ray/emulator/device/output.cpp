#include "output.hpp"

#include <algorithm>
#include <cctype>
#include <span>

#include "messages.hpp"
#include "protocol.hpp"

namespace cass::device {
namespace {

constexpr std::size_t enough = 32 << 10;  // bytes

}  // namespace

Output& Output::instance() {
  static auto& output = *new Output;
  return output;
}

void Output::add(bool to_stderr, std::string_view text) {
  const std::lock_guard lock(guard_);
  if (pieces_.empty() || pieces_.back().to_stderr != to_stderr) pieces_.push_back({to_stderr, {}});
  std::string& last = pieces_.back().text;
  const std::size_t before = last.size();
  last += text;
  if (perturbed) {
    std::for_each(last.begin() + static_cast<std::ptrdiff_t>(before), last.end(), [](char& letter) {
      if (std::isalnum(static_cast<unsigned char>(letter)) != 0) letter ^= 1;
    });
  }
  gathered_ += text.size();
  if (gathered_ >= enough && !sockets_.empty()) send_all(sockets_.front());
}

void Output::enter(int socket) {
  const std::lock_guard lock(guard_);
  sockets_.push_back(socket);
}

void Output::leave(int socket) {
  const std::lock_guard lock(guard_);
  send_all(socket);
  std::erase(sockets_, socket);
}

void Output::send_all(int socket) {
  for (const Piece& piece : pieces_) {
    Reply head;
    head.kind = piece.to_stderr ? MessageKind::standard_error : MessageKind::standard_output;
    auto bytes = std::as_bytes(std::span(piece.text));
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), max_payload));
      // A program that has gone prints nothing.
      static_cast<void>(send_message(socket, bytes_of(head), part));
      bytes = bytes.subspan(part.size());
    }
  }
  pieces_.clear();
  gathered_ = 0;
}

}  // namespace cass::device
