// The checking mode: what each byte of memory is.
#pragma once

#include "engine.hpp"

namespace cass::rdna3 {

// Declared in engine.hpp: checking, register_allocation, unregister_allocation, mark_initialised.

}  // namespace cass::rdna3
