// Data changed where it passes between the host and the device, or between kernels, so that two
// programs can be asked whether they still print the same.
//
// Where changes are made depends on a seed and on places (transcript.hpp) alone: a program and its
// port get the same ones. They set results to zero or to the value of their neighbor, so that two
// results that differ by rounding still differ by no more. Inputs, which are the same bits in both,
// become other values: a kernel of each element by itself would carry a zero through to its result.
// Small integers among results are the same bits in both, too: they get bits of their upper half,
// of which a port that brings back half of each knows nothing. Pointers stay as they are, and zeros
// among them. The lower half of a pointer that lies apart from its upper half is an integer like
// others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "transcript.hpp"

namespace cass::device {

// Memory is looked at in groups of 8 bytes. A group that is not as the host last left it
// (by copies and fills; zero to begin with) was written by a kernel.
class Perturbation {
 public:
  struct Request {
    enum class Where {
      nowhere,
      out,  // some groups that kernels wrote, on their way to the host
      out_all,  // all of them: zero
      out_wide,  // the small integers among them: large
      in,  // some groups on their way to the device
      in_all,  // all of them
      between,  // some groups that kernels wrote, before the launch with the number `launch`
    };
    Where where = Where::nowhere;
    std::uint64_t seed = 0;
    std::uint64_t launch = 0;
  };
  // From `out:SEED`, `out-all`, `out-wide`, `in:SEED`, `in-all`, `between:SEED:LAUNCH`.
  static std::optional<Request> parse(std::string_view text);

  // Takes address space for what the host last left in device memory. False where there is none.
  bool enable(const Request& request, Transcript& transcript);
  bool enabled() const { return transcript_ != nullptr; }
  // Whether text that kernels print is changed.
  bool changes_text() const;

  // Device memory has got the bytes of host memory; it is changed in place.
  void arrived(std::byte* start, std::size_t bytes, MemoryPlace place);
  // Device memory has been written by a fill, or by the loader.
  void host_wrote(const std::byte* start, std::size_t bytes);
  void forget(const std::byte* start, std::size_t bytes);
  // After a copy inside device memory, which carries along what the host left there.
  void moved(const std::byte* to, const std::byte* from, std::size_t bytes);
  // `target` has got the bytes of device memory at `from`.
  void returned(std::byte* target, const std::byte* from, std::size_t bytes, MemoryPlace place);

  struct Block {
    std::byte* start;
    std::size_t bytes;
    std::uint64_t key;
    bool shared;  // the host reads and writes it directly
  };
  // Around each launch, with all memory of the program.
  void before_launch(const std::vector<Block>& blocks);
  void after_launch();

 private:
  bool changes_inputs() const;
  bool changes_results() const;

  struct Snapshot {
    Block block;
    std::vector<std::byte> content;
  };

  void shared_before(const Block& block);
  void shared_after(const Snapshot& snapshot);
  void between_kernels(const Block& block);

  Request request_;
  Transcript* transcript_ = nullptr;
  std::mutex guard_;
  unsigned running_ = 0;
  std::uint64_t launches_ = 0;
  std::vector<Snapshot> snapshots_;
  // What shared memory held after the last launch, by address.
  std::map<const std::byte*, std::vector<std::byte>> seen_;
};

}  // namespace cass::device
