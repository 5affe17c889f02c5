// Messages of whole sockets' packets, with open files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace cass::device {

// Closes it at its end.
class File {
 public:
  File() = default;
  explicit File(int number) : number_(number) {}
  File(File&& other) noexcept : number_(other.release()) {}
  File& operator=(File&& other) noexcept;
  ~File();
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release();

 private:
  int number_ = -1;
};

struct Ends {
  File ours;
  File theirs;
};

// Two connected sockets, closed on exec; empty where there can be none.
std::optional<Ends> socket_pair();

// Both parts as one message, and `file`, if it is one, with it. False where the other side is gone.
bool send_message(int socket, std::span<const std::byte> head, std::span<const std::byte> body = {},
                  int file = -1);

struct Received {
  std::span<std::byte> bytes;  // of the buffer; none where the message was longer than that
  File file;
};

// One message; none where the other side is gone.
std::optional<Received> receive_message(int socket, std::span<std::byte> buffer);

// Waits for messages awake for a moment, as long as that pays: to wake a thread on a CPU that
// sleeps takes longer than most requests. Where the message does not come meanwhile (a long kernel,
// other work on the CPU of the other side), the next waits are asleep, and more of them each time.
class Receiver {
 public:
  std::optional<Received> receive(int socket, std::span<std::byte> buffer);

 private:
  unsigned asleep_ = 0;  // waits to come that do not try
  unsigned penalty_ = 1;  // the same, after the next one that tries in vain
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace cass::device
