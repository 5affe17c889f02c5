// A program whose kernel failed must not end as if all were well.
#pragma once

namespace cass::hip {

// From now on: if a kernel has failed, or checking mode has found something, and the program
// ends with status 0 all the same, it ends with status 1.
void watch_exit();

}  // namespace cass::hip
