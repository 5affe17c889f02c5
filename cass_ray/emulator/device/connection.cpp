#include "connection.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <system_error>
#include <thread>

#include "channel.hpp"
#include "output.hpp"
#include "protocol.hpp"

namespace cass::device {
namespace {

constexpr unsigned max_channels = 128;

// Whether there is something to read, before `end` is closed.
bool wait_for(int socket, int end) {
  std::array<pollfd, 2> watched{{{socket, POLLIN, 0}, {end, POLLIN, 0}}};
  while (::poll(watched.data(), watched.size(), -1) < 0) {
  }
  return (watched[0].revents & POLLIN) != 0 && watched[1].revents == 0;
}

void accept_channels(Session& session, int socket, int end) {
  static std::atomic<unsigned> open = 0;
  std::array<std::byte, 16> message;
  while (wait_for(socket, end)) {
    auto received = receive_message(socket, message);
    if (!received) return;
    if (!received->file || open >= max_channels) continue;  // closes it
    ++open;
    try {
      std::thread([&session, channel = std::move(received->file)]() mutable {
        serve_channel(session, std::move(channel));
        --open;
      }).detach();
    } catch (const std::system_error&) {
      --open;  // no more threads: the channel is closed
    }
  }
}

}  // namespace

void serve_connection(const Options& options, Evidence& evidence, File socket, int end) {
  amdgpu::configure(options.engine);
  amdgpu::set_output_sink(
      [](bool to_stderr, std::string_view text) { Output::instance().add(to_stderr, text); });
  // Channels may be in use until the end of the process.
  auto& session = *new Session(options, evidence);
  accept_channels(session, socket.number(), end);
  evidence.write_counters();
  ::_exit(0);
}

}  // namespace cass::device
