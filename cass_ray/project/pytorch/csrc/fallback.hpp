#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace cass {

// Whether an operator returns another view of the memory of an argument.
bool is_view(const c10::FunctionSchema& schema);

// Computes an operator by its CPU kernel: arguments are copied to the CPU, results and what it
// writes back to the device. A view is refused: it would be one of the copy.
void by_the_cpu(const c10::OperatorHandle& name, torch::jit::Stack* stack);

}  // namespace cass
