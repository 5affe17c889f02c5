#pragma once

#include <ATen/core/Generator.h>

namespace cass {

// Puts a generator of the CPU in the place of a device's, as an operator computed by the CPU wants
// it: its numbers are given by the device generator's seed and offset, and the offset moves on.
// Throws as PyTorch's operators for devices do where `given` is a generator of the CPU.
at::Generator for_the_cpu(const at::Generator& given);

// A generator for Python's side. The first of a device is its default one: torch.cuda keeps it.
at::Generator generator_for_python(c10::DeviceIndex device);

}  // namespace cass
