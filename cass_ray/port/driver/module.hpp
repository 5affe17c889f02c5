// Modules that the program has loaded, and what is known of their kernels.
#pragma once

#include <hip/hip_runtime_api.h>

#include "../common/clusters.hpp"

namespace cass::cuda::driver {

// The architecture of the machine code that a kernel was lifted from, 80 for sm_80; 0: unknown.
int capability_of(hipFunction_t kernel);

// A kernel that can be launched in clusters.
struct LoadedCluster {
  ClusterKernel kernel;
  hipFunction_t launched = nullptr;
};

// Null for other kernels.
const LoadedCluster* loaded_cluster(hipFunction_t kernel);

}  // namespace cass::cuda::driver
