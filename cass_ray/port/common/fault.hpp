// Faults of a kernel from which CUDA does not recover.
#pragma once

#include "codes.hpp"

namespace cass::cuda {

// The first fault of this process; success before it.
int earlier_fault();

// Keeps `code` where it is such a fault. Returns the first fault, or `code` where there was none.
int with_faults(int code);

// What `finish` makes of `call`, which is not made after a fault: "any further CUDA work will
// return the same error" (driver_types.h).
template <typename Call, typename Finish>
int unless_at_fault(Call call, Finish finish) {
  const int fault = earlier_fault();
  return fault != success ? fault : finish(call());
}

}  // namespace cass::cuda
