#include "fault.hpp"

#include <atomic>

namespace cass::cuda {
namespace {

std::atomic<int> first{success};

// The codes of which driver_types.h says that the process has to end.
bool is_fault(int code) {
  switch (code) {
    case 226:  // contained exception
    case 700:  // illegal address
    case 702:  // launch timeout
    case 710:  // assertion
    case 714:  // hardware stack
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // address space
    case 718:  // program counter
    case 719:  // launch failure
    case 721:  // leaked tensor memory
      return true;
    default: return false;
  }
}

}  // namespace

int earlier_fault() { return first.load(); }

int with_faults(int code) {
  int expected = success;
  if (is_fault(code)) first.compare_exchange_strong(expected, code);
  const int fault = earlier_fault();
  return fault != success ? fault : code;
}

}  // namespace cass::cuda
