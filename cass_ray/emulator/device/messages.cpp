#include "messages.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace cass::device {
File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = other.release();
  }
  return *this;
}

File::~File() {
  if (number_ >= 0) ::close(number_);
}

int File::release() { return std::exchange(number_, -1); }

std::optional<Ends> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  return Ends{File(ends[0]), File(ends[1])};
}

bool send_message(int socket, std::span<const std::byte> head, std::span<const std::byte> body,
                  int file) {
  iovec parts[2] = {{const_cast<std::byte*>(head.data()), head.size()},
                    {const_cast<std::byte*>(body.data()), body.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = body.empty() ? 1 : 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* entry = CMSG_FIRSTHDR(&message);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(entry), &file, sizeof file);
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

namespace {

constexpr auto time_awake = std::chrono::microseconds(60);
constexpr unsigned largest_penalty = 256;  // waits

// One message, with these flags of recvmsg; none, and errno, where there is none.
std::optional<Received> receive(int socket, std::span<std::byte> buffer, int flags) {
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t count;
  do {
    count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  } while (count < 0 && errno == EINTR);
  Received received;
  for (cmsghdr* entry = count < 0 ? nullptr : CMSG_FIRSTHDR(&message); entry != nullptr;
       entry = CMSG_NXTHDR(&message, entry)) {
    if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
    int file = -1;
    std::memcpy(&file, CMSG_DATA(entry), sizeof file);
    received.file = File(file);
  }
  // An empty message is what the end looks like: nobody sends one.
  if (count == 0) errno = 0;
  if (count <= 0) return std::nullopt;
  if ((message.msg_flags & MSG_TRUNC) == 0) {
    received.bytes = buffer.first(static_cast<std::size_t>(count));
  }
  return received;
}

}  // namespace

std::optional<Received> receive_message(int socket, std::span<std::byte> buffer) {
  return receive(socket, buffer, 0);
}

std::optional<Received> Receiver::receive(int socket, std::span<std::byte> buffer) {
  if (asleep_ != 0) {
    --asleep_;
    return receive_message(socket, buffer);
  }
  const auto end = std::chrono::steady_clock::now() + time_awake;
  do {
    auto received = device::receive(socket, buffer, MSG_DONTWAIT);
    if (received || errno != EAGAIN) {
      penalty_ = 1;
      return received;
    }
    for (int k = 0; k < 16; ++k) __builtin_ia32_pause();
  } while (std::chrono::steady_clock::now() < end);
  asleep_ = penalty_;
  penalty_ = std::min(2 * penalty_, largest_penalty);
  return receive_message(socket, buffer);
}

}  // namespace cass::device
