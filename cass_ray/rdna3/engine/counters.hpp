// Dynamic counts per kernel, where CASS_RDNA3_COUNTERS names a file.
#pragma once

namespace cass::rdna3 {

struct Workgroup;

bool counting();
void count_workgroup(Workgroup& group);

}  // namespace cass::rdna3
