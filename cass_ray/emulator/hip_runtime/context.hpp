// Contexts of the driver-style API. A device has one set of streams and memory, which all of its
// contexts share.
#pragma once

namespace cass::hip {

// Makes `device` the calling thread's, with its primary context: hipSetDevice.
void use_primary_context(int device);

}  // namespace cass::hip
