#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

namespace cass {

// HIP's memory for tensors and for extensions that ask PyTorch for memory. It caches nothing.
c10::cuda::CUDACachingAllocator::CUDAAllocator& device_allocator();

}  // namespace cass
