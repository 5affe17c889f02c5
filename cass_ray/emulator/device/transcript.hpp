// What moved between a program's host and the device, in order, for whoever started the run.
//
// The file belongs to the device process and its supervisor; the program never sees it. Records are
// appended whole, also by processes of several connections. Layout of a record:
// cass_ray/execute/evidence/transcript.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cass::device {

// A place in device memory that is the same in each run of the same program: `key` names the
// allocation (by its size and how many of that size came before) or the copy of a variable
// (likewise).
struct MemoryPlace {
  std::uint64_t key = 0;
  std::uint64_t offset = 0;  // bytes

  MemoryPlace at(std::uint64_t further) const { return {key, offset + further}; }
};

class Transcript {
 public:
  // An open file, or -1 for no transcript.
  explicit Transcript(int file);

  bool enabled() const { return file_ >= 0; }

  void host_to_device(MemoryPlace place, std::span<const std::byte> data);
  // Memory that both sides write directly: how much of it is seen at once is a matter of time.
  void shared_with_device(MemoryPlace place, std::span<const std::byte> data);
  void shared_with_host(MemoryPlace place, std::span<const std::byte> data);
  // `written`: bytes of it that kernels wrote, and the host did not.
  void device_to_host(MemoryPlace place, std::span<const std::byte> data, std::uint64_t written);
  void launch(std::string_view kernel);
  void failed_launch(std::string_view kernel);

 private:
  enum class Kind : std::uint32_t {
    in = 1,
    out = 2,
    launch = 3,
    failed_launch = 4,
    shared_in = 5,
    shared_out = 6
  };
  void append(Kind kind, MemoryPlace place, std::span<const std::byte> data, std::uint64_t written,
              bool with_data);

  int file_;
};

}  // namespace cass::device
