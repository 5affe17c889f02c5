// Copies of two and three dimensions from HIP's several parameter structures.
#pragma once

#include <hip/hip_runtime_api.h>

#include "copy.hpp"

namespace cass::hip {

hipError_t request_of(const hipMemcpy3DParms& parameters, CopyRequest* request);
hipError_t request_of(const HIP_MEMCPY3D& parameters, CopyRequest* request);
hipError_t request_of(const hip_Memcpy2D& parameters, CopyRequest* request);

}  // namespace cass::hip
