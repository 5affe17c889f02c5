// What the user of `cass run-binary` is told.
#pragma once

#include <string_view>

namespace cass::cuda {

// A line on standard error, once each.
void report_once(std::string_view message);

}  // namespace cass::cuda
