// Device code that is loaded while the program runs: `cass run-binary` lifts it, outside of the
// sandbox.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cass::cuda::driver {

struct LiftedImage {
  int result = 0;               // a CUresult
  int capability = 0;           // 80 for sm_80
  std::string message;          // what went wrong, or which kernels are left out
  std::vector<std::byte> code;  // a HIP fat binary
  std::string clusters;         // how kernels of clusters are launched
};

// The bytes of what cuModuleLoadData is given: a cubin, a fat binary, its wrapper, or PTX.
std::span<const std::byte> whole_image(const void* image);

// Sends `image` to the socket that $CASS_PORT_LIFTER names, and waits
// (cass_ray/port/service.py has the protocol).
LiftedImage lift(std::span<const std::byte> image);

}  // namespace cass::cuda::driver
