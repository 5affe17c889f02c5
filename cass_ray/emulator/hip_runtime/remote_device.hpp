// The device process, as the rest of the runtime sees it: who owns device memory and runs kernels.
//
// A request takes a channel for as long as it lasts, so that threads do not wait for one another.
// Nothing here throws; once the device process is gone, every request fails and says so once.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../device/description.hpp"
#include "../device/messages.hpp"
#include "../device/protocol.hpp"
#include "../engine/engine.hpp"

namespace cass::hip {

// A loaded code object; unloaded with its last owner.
class RemoteCode {
 public:
  RemoteCode(std::uint64_t number, device::Description description)
      : number(number), description_(std::move(description)) {}
  ~RemoteCode();
  RemoteCode(const RemoteCode&) = delete;
  RemoteCode& operator=(const RemoteCode&) = delete;

  const amdgpu::Kernel* kernel(std::string_view name) const;  // null if there is none
  std::optional<amdgpu::Symbol> variable(std::string_view name) const;
  std::string_view target() const { return description_.target; }
  std::uint32_t number_of(const amdgpu::Kernel& kernel) const;

  const std::uint64_t number;

 private:
  device::Description description_;
};

// A side of a copy: memory that the device process has, or of the program alone.
struct CopySide {
  std::byte* start = nullptr;
  std::size_t pitch = 0;
  bool remote = false;
};

class RemoteDevice {
 public:
  static RemoteDevice& instance();

  // Null where there is no more. Memory that both sides see is mapped here too.
  std::byte* allocate(device::MemoryKind kind, std::size_t bytes);
  void release(std::byte* block, std::size_t bytes, bool shared);

  // Makes whole pages of the program memory that both sides see, and its own again.
  bool share(std::byte* pages, std::size_t bytes);
  void unshare(std::byte* pages, std::size_t bytes);

  // `rows` of `width` bytes; at least one side is remote.
  hipError_t copy(const CopySide& to, const CopySide& from, std::size_t width, std::size_t rows);
  hipError_t fill(const device::Fill& request);

  // Null, and `error` filled in, where it cannot be loaded.
  std::shared_ptr<RemoteCode> load(std::span<const std::byte> elf, amdgpu::Error& error);
  void unload(std::uint64_t number);

  struct Fault {
    amdgpu::FaultKind kind;
    std::string text;
  };
  // Runs the kernel to its end and prints what it prints.
  hipError_t launch(const device::Launch& request, std::span<const std::byte> arguments,
                    std::vector<Fault>& faults);

  // A launch of the kernel was answered with an error.
  void note_failed_launch(std::string_view kernel);

  // A copy whose direction contradicts its pointers: false in checking mode, where it is an error.
  bool forgives(hipMemcpyKind kind);

  // Whether commands of streams start only when somebody waits for them.
  bool is_late();

  // The program ends: waits for the evidence of a device process that this one has started.
  void finish();

 private:
  struct Channel;
  struct Answer {
    device::Reply reply;
    std::span<const std::byte> bytes;  // of the channel
    device::File file;
  };
  class Lease;

  RemoteDevice();
  bool connect();
  std::unique_ptr<Channel> open_channel();
  std::optional<Answer> ask(Channel& channel, std::span<const std::byte> request,
                            std::span<const std::byte> payload = {});
  hipError_t copy_rows(Channel& channel, const CopySide& to, const CopySide& from,
                       std::size_t width, std::size_t rows);
  bool usable();
  void lose();

  struct State;
  State* const state_;
};

}  // namespace cass::hip
