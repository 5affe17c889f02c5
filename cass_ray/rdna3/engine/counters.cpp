#include "counters.hpp"

#include "workgroup.hpp"

namespace cass::rdna3 {

bool counting() { return false; }
void count_workgroup(Workgroup&) {}

}  // namespace cass::rdna3
