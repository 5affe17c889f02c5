#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace cass {

// Computes an operator by its CPU kernel: arguments are copied to the CPU, results and what it
// writes back to the device.
void by_the_cpu(const c10::OperatorHandle& name, torch::jit::Stack* stack);

}  // namespace cass
