// Environment variables of the emulator: CASS_EMULATOR_NAME, or CASS_RDNA3_NAME, as they were
// called when the engine knew RDNA3 alone. The present name counts where both are set.
#pragma once

#include <cstdlib>
#include <string>

namespace cass {

// The text of the variable called `name` behind the prefix; nullptr where neither is set.
inline const char* emulator_variable(const std::string& name) {
  const char* text = std::getenv(("CASS_EMULATOR_" + name).c_str());
  return text != nullptr ? text : std::getenv(("CASS_RDNA3_" + name).c_str());
}

}  // namespace cass
