// What one process of a program has on the device: memory and code objects; and its requests.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "../engine/engine.hpp"
#include "evidence.hpp"
#include "fragments.hpp"
#include "messages.hpp"
#include "options.hpp"
#include "perturbation.hpp"
#include "protocol.hpp"
#include "transcript.hpp"

namespace cass::device {

class Session {
 public:
  // Both outlive it.
  Session(const Options& options, Evidence& evidence);

  // Device memory, or memory that both sides see: its address, and then `file` is set.
  std::uint64_t allocate(MemoryKind kind, std::uint64_t bytes, File& file);
  bool release(std::uint64_t address);
  Status share(std::uint64_t address, std::uint64_t bytes, File& file);
  bool unshare(std::uint64_t address);

  // Memory of `rows` rows, the last of which ends with its `width` bytes. Checked: all of it is
  // memory that the program has. False else, and then nothing has happened.
  struct Rows {
    std::uint64_t address;
    std::uint64_t pitch;
  };
  bool copy_in(const Rows& to, const std::byte* packed, std::uint64_t width, std::uint64_t rows);
  bool copy_out(std::byte* packed, const Rows& from, std::uint64_t width, std::uint64_t rows);
  bool copy_inside(const Rows& to, const Rows& from, std::uint64_t width, std::uint64_t rows);
  bool fill(const Fill& request);

  // The number of the code object; 0, and `error` filled in, where it cannot be loaded.
  std::uint64_t load(std::span<const std::byte> elf, std::vector<std::byte>& description,
                     amdgpu::Error& error);
  bool unload(std::uint64_t code_object);

  // Runs it to its end. False for one that our runtime does not ask for.
  bool launch(const Launch& request, std::span<const std::byte> arguments, int socket,
              std::vector<amdgpu::Fault>& reports);

  // The program's runtime answered a launch with an error: nothing ran.
  void note_failed_launch(std::string_view kernel) { transcript_.failed_launch(kernel); }

  const Options& options() const { return options_; }

 private:
  struct Block {
    std::uint64_t bytes;
    bool shared;
    bool registered;
    bool mapped;  // by itself, not with others as a part of a block
    std::uint64_t key;  // of places in it
  };

  // Whether one more block may be allocated.
  bool has_room(bool mapped) const;

  // Whether all of it is memory that the program has now.
  bool holds(const Rows& rows, std::uint64_t width, std::uint64_t count) const;

  // All memory of the program, for what is done around launches.
  std::vector<Perturbation::Block> blocks();
  // Of a copy of so many bytes. A variable is named by the copies to it or from it: compilers
  // name and lay out constants in ways of their own.
  enum class Direction { in, out };
  MemoryPlace place_of(std::uint64_t address, std::uint64_t bytes, Direction direction);
  // Of the next allocation of so many bytes.
  std::uint64_t next_key(std::uint64_t bytes);

  const Options& options_;
  Evidence& evidence_;
  Transcript transcript_;
  Perturbation perturbation_;
  std::mutex guard_;
  std::map<std::uint64_t, Block> blocks_;  // by address
  std::map<std::uint64_t, std::uint64_t> allocated_;  // how many there were, by size
  // Likewise, by size, and by whether they lead in, out, or out before a launch.
  std::map<std::uint64_t, std::uint64_t> variable_copies_[3];
  std::atomic<bool> launched_ = false;
  Fragments fragments_;
  std::uint64_t shared_bytes_ = 0;
  std::size_t mapped_ = 0;  // of `blocks_`
  std::map<std::uint64_t, std::shared_ptr<amdgpu::CodeObject>> code_objects_;
  std::uint64_t last_code_object_ = 0;
};

// Memory of `bytes` that another process can map and nobody can resize; none where there is no
// more.
File shared_file(std::uint64_t bytes);

}  // namespace cass::device
