// One channel: requests of one thread of the program at a time, and their answers.
#pragma once

#include "messages.hpp"
#include "session.hpp"

namespace cass::device {

// Serves requests until the program closes the channel, or says what our runtime does not say: then
// the channel is closed.
void serve_channel(Session& session, File socket);

}  // namespace cass::device
