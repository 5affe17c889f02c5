// How a process of the program gets its connection to the device process.
#pragma once

#include "../device/messages.hpp"

namespace cass::hip {

struct RemoteStart {
  device::File connection;
  bool started_here = false;  // the device process is this program's own
};

// Asks at the door that the process inherited; where there is none, starts a device process.
// No connection, and the reason on standard error, where that cannot be.
RemoteStart start_remote();

}  // namespace cass::hip
