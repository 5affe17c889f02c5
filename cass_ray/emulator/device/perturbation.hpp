// Results changed on their way to the host: a program that then prints the same does not print what
// its kernels computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace cass::device {

// The rule. Memory is looked at in aligned groups of 8 bytes. A group that is not as the host last
// left it (by copies and fills; zero to begin with) was written by a kernel. When it is copied to
// the host, the low bit of each of its bytes is flipped: integers, truth values, exponents and
// mantissas of floats all change visibly. Memory that the host reads directly is changed in place,
// where kernels have changed it, when no kernel runs any more. A kernel that writes what was there
// anyway has computed nothing: its group stays.
class Perturbation {
 public:
  // Takes address space for what the host last left in device memory. False where there is none.
  bool enable();
  bool enabled() const { return enabled_; }

  // Device memory has been written by the host, or is released.
  void host_wrote(const std::byte* start, std::size_t bytes);
  void forget(const std::byte* start, std::size_t bytes);
  // After a copy inside device memory, which carries along what the host left there.
  void moved(const std::byte* to, const std::byte* from, std::size_t bytes);
  // `target` has got the bytes of device memory at `from`.
  void change(std::byte* target, const std::byte* from, std::size_t bytes) const;

  struct Block {
    std::byte* start;
    std::size_t bytes;
  };
  // Around each launch, with all memory that the host reads directly.
  void before_launch(const std::vector<Block>& shared);
  void after_launch();

 private:
  struct Snapshot {
    Block block;
    std::vector<std::byte> content;
  };

  bool enabled_ = false;
  std::mutex guard_;
  unsigned running_ = 0;
  std::vector<Snapshot> snapshots_;
};

}  // namespace cass::device
