// The checking mode (Settings::check): what each byte of memory is, and who used it last.
// `checking`, `register_allocation` and the rest of the public part are declared in engine.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine.hpp"
#include "wave.hpp"

namespace cass::amdgpu {

struct Workgroup;

// One workgroup's LDS. An epoch lies between two barriers.
struct LdsShadow {
  static constexpr std::uint32_t never = 0;
  struct Byte {
    std::uint32_t write_epoch = never;
    std::uint32_t read_epoch = never;
    std::uint16_t writer = 0;       // wave
    std::uint16_t reader = 0;       // wave; of several in one epoch: many_readers
    bool initialized = false;
    bool atomic = false;            // the last write was one
  };
  static constexpr std::uint16_t many_readers = 0xFFFF;
  std::vector<Byte> bytes;
  std::uint32_t epoch = 1;
  bool acquired = false;            // the workgroup has synchronised with others since its start

  void reset(std::size_t size);     // a new workgroup starts
};

// Which workgroup of a launch wrote an address last, and whether with an atomic operation.
class GlobalWriters {
 public:
  struct Writer {
    std::uint64_t group = 0;
    bool atomic = false;
  };
  // Notes the write; who wrote before, or the same.
  Writer exchange(std::uint64_t address, Writer writer);

 private:
  std::unordered_map<std::uint64_t, Writer> writers_;
};

// Before a memory instruction; `checked` has its operands, and its row in the destination. False
// where it must not be executed: the report is the wave's fault.
bool check_access(Wave& wave, const Instruction* checked);

// All waves of a workgroup wait: at one barrier, or a report.
void check_barrier(Workgroup& group);

// The report that stopped a wave with WaveFault::check.
Fault take_stopping_report();

}  // namespace cass::amdgpu
