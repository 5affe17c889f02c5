// What was said of kernels when they were registered.
#pragma once

#include <cstddef>
#include <string>

#include "../common/clusters.hpp"

namespace cass::cuda {

// The architecture of the machine code that a kernel was lifted from, 80 for sm_80; 0 for a kernel
// that was not registered.
int capability_of(const void* kernel);

// "NAME: REASON" of a kernel that could not be lifted; empty for others.
std::string left_out(const void* kernel);

// A kernel that can be launched in clusters.
struct RegisteredCluster {
  ClusterKernel kernel;
  const void* launched = nullptr;  // what HIP knows it by
  bool is_compiled_so = false;     // the size of its clusters is in its code
};

// Null for other kernels.
RegisteredCluster* registered_cluster(const void* kernel);

struct ManagedMemory {
  void* memory;  // null: none
  std::size_t size;
};

// What CUDA's calls mean by the symbol of a `__managed__` variable: its memory.
ManagedMemory managed_variable(const void* symbol);

}  // namespace cass::cuda
