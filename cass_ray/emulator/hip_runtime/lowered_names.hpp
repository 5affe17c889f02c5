// What names of a code object the pointers in some of its variables lead to.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cass::hip {

// The symbol that the initial value of the pointer variable `variable` is the address of.
std::optional<std::string> pointed_to(std::span<const std::byte> code_object,
                                      std::string_view variable);

}  // namespace cass::hip
