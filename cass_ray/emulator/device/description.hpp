// A code object as the program's HIP runtime sees it: what it loaded, without the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../engine/engine.hpp"

namespace cass::device {

using Variables = std::unordered_map<std::string, amdgpu::Symbol>;

struct Description {
  std::vector<amdgpu::Kernel> kernels;  // their numbers are those of the launch request
  Variables variables;
  std::string target;  // "gfx1100"
};

std::vector<std::byte> write_description(std::string_view target,
                                         std::span<const amdgpu::Kernel> kernels,
                                         const Variables& variables);
std::optional<Description> read_description(std::span<const std::byte> bytes);

}  // namespace cass::device
