// The inside of RemoteDevice: its channels.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "remote_device.hpp"

namespace cass::hip {

// The device process serves twice as many.
inline constexpr unsigned max_channels = 64;

struct RemoteDevice::Channel {
  device::File socket;
  device::Receiver receiver;
  std::byte* staging = nullptr;
  std::array<std::byte, device::max_message> buffer;
};

struct RemoteDevice::State {
  std::once_flag connected;
  device::File connection;
  bool started_here = false;
  pid_t owner = 0;  // a child after fork() has no device
  std::atomic<bool> lost = false;
  std::atomic<bool> finished = false;
  std::atomic<bool> late = false;

  std::mutex guard;
  std::condition_variable given_back;
  std::vector<std::unique_ptr<Channel>> idle;
  unsigned channels = 0;
};

// A channel for one request, or several that belong together; null where there is no device.
class RemoteDevice::Lease {
 public:
  explicit Lease(RemoteDevice& device) : device_(device) {
    if (!device.usable()) return;
    State& state = *device.state_;
    std::unique_lock lock(state.guard);
    state.given_back.wait(lock,
                          [&] { return !state.idle.empty() || state.channels < max_channels; });
    if (!state.idle.empty()) {
      channel_ = std::move(state.idle.back());
      state.idle.pop_back();
      return;
    }
    ++state.channels;
    lock.unlock();
    channel_ = device.open_channel();
    if (channel_ == nullptr) device.lose();
  }
  ~Lease() {
    if (channel_ == nullptr) return;
    State& state = *device_.state_;
    {
      const std::lock_guard lock(state.guard);
      state.idle.push_back(std::move(channel_));
    }
    state.given_back.notify_one();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  explicit operator bool() const { return channel_ != nullptr; }
  Channel& operator*() const { return *channel_; }
  Channel* operator->() const { return channel_.get(); }

 private:
  RemoteDevice& device_;
  std::unique_ptr<Channel> channel_;
};

}  // namespace cass::hip
