// Pages of the program that the device process maps as well, for registered host memory. Not
// thread-safe: Memory's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace cass::hip {

class SharedPages {
 public:
  static SharedPages& instance();

  // Shares the pages that [start, start + bytes) touches. Registered blocks may have pages in
  // common. False, and nothing is shared, where a page cannot be.
  bool take(std::byte* start, std::size_t bytes);
  void drop(std::byte* start, std::size_t bytes);

 private:
  struct Area {
    std::size_t bytes;
    unsigned users;
  };
  std::map<std::uintptr_t, Area> areas_;  // by first address; they do not overlap
};

}  // namespace cass::hip
