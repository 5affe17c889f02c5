// Preparation of a launch and the description of faults.
#pragma once

#include <optional>

#include "engine.hpp"
#include "workgroup.hpp"

namespace cass::amdgpu {

// Checks the launch, puts its arguments where kernels see them and fills in what its waves start
// with. A fault where it cannot run.
std::optional<Fault> prepare(Launch& launch, LaunchState& state);

// What happened to a workgroup that did not finish.
Fault describe(Workgroup& group, Outcome outcome);

}  // namespace cass::amdgpu
