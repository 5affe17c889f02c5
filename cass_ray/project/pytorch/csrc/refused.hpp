#pragma once

namespace cass {

// Throws NotImplementedError about `what`.
[[noreturn]] void refuse(const char* what);

}  // namespace cass
