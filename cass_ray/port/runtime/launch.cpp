// Launches, attributes of kernels, occupancy.
#include "forward.hpp"
#include "registration.hpp"

using namespace cass::cuda;

namespace {

// CUDA's limits, which have an error code of their own there (CUDA programming guide, table of
// technical specifications).
bool is_possible(dim3 grid, dim3 block) {
  const auto threads = std::uint64_t{block.x} * block.y * block.z;
  const auto blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  return threads != 0 && threads <= 1024 && block.z <= 64 && blocks != 0 && grid.x <= 0x7FFFFFFFU &&
         grid.y <= 0xFFFFU && grid.z <= 0xFFFFU;
}

int launch(const LaunchConfiguration* given, const void* kernel, void** arguments,
           hipStream_t stream) {
  if (given == nullptr) return fail(invalid_value);
  if (!is_possible(given->gridDim, given->blockDim)) return fail(hipErrorInvalidConfiguration);
  const auto [cooperative, clusters] = requests_of(given->attrs, given->numAttrs);
  if (clusters) return unsupported("a cluster of more than one block");
  if (cooperative) {
    return finish(hipLaunchCooperativeKernel(kernel, given->gridDim, given->blockDim, arguments,
                                             static_cast<unsigned>(given->dynamicSmemBytes),
                                             stream));
  }
  return finish(hipLaunchKernel(kernel, given->gridDim, given->blockDim, arguments,
                                given->dynamicSmemBytes, stream));
}

}  // namespace

CUDA_API int cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                              std::size_t shared, hipStream_t stream) {
  if (!is_possible(grid, block)) return fail(hipErrorInvalidConfiguration);
  return finish(hipLaunchKernel(kernel, grid, block, arguments, shared, stream));
}

CUDA_API int cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                   std::size_t shared, hipStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, per_thread(stream));
}

// What launch stubs of nvcc 13 call; a cudaKernel_t is the host function here.
CUDA_API int __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                std::size_t shared, hipStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

CUDA_API int __cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                     std::size_t shared, hipStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, per_thread(stream));
}

FORWARD_STREAM(cudaLaunchCooperativeKernel, hipLaunchCooperativeKernel,
               (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                hipStream_t stream),
               (kernel, grid, block, arguments, static_cast<unsigned>(shared), stream))
FORWARD_STREAM(cudaLaunchHostFunc, hipLaunchHostFunc,
               (hipStream_t stream, hipHostFn_t function, void* data), (stream, function, data))

CUDA_API int __cudaGetKernel(const void** kernel, const void* host_function) {
  *kernel = host_function;
  return success;
}

CUDA_API int cudaGetKernel(const void** kernel, const void* host_function) {
  return __cudaGetKernel(kernel, host_function);
}

CUDA_API int cudaLaunchKernelExC(const LaunchConfiguration* given, const void* kernel,
                                 void** arguments) {
  return launch(given, kernel, arguments, given != nullptr ? given->stream : nullptr);
}

CUDA_API int cudaLaunchKernelExC_ptsz(const LaunchConfiguration* given, const void* kernel,
                                      void** arguments) {
  return launch(given, kernel, arguments, given != nullptr ? per_thread(given->stream) : nullptr);
}

CUDA_API int cudaFuncGetAttributes(FunctionAttributes* made, const void* kernel) {
  hipFuncAttributes given{};
  if (const auto result = hipFuncGetAttributes(&given, kernel); result != hipSuccess) {
    return finish(result);
  }
  *made = {};
  made->sharedSizeBytes = given.sharedSizeBytes;
  made->constSizeBytes = given.constSizeBytes;
  made->localSizeBytes = given.localSizeBytes;
  made->maxThreadsPerBlock = given.maxThreadsPerBlock;
  made->numRegs = given.numRegs;
  // Of the original: libraries such as CUB choose the kernel's tuning, and with it the launch, by
  // these. The virtual architecture is not in the machine code; nvcc's default is the same number.
  made->ptxVersion = made->binaryVersion = capability_of(kernel);
  made->cacheModeCA = given.cacheModeCA;
  made->maxDynamicSharedSizeBytes = given.maxDynamicSharedSizeBytes;
  made->preferredShmemCarveout = given.preferredShmemCarveout;
  return success;
}

CUDA_API int cudaFuncSetAttribute(const void* kernel, int attribute, int value) {
  enum { largest_dynamic_shared = 8, carveout = 9 };
  if (attribute != largest_dynamic_shared && attribute != carveout) {
    return unsupported("an attribute of cudaFuncSetAttribute");
  }
  return finish(hipFuncSetAttribute(kernel, static_cast<hipFuncAttribute>(attribute), value));
}

// Preferences: a device may ignore them.
CUDA_API int cudaFuncSetCacheConfig(const void*, int) { return success; }
CUDA_API int cudaFuncSetSharedMemConfig(const void*, int) { return success; }

FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessor, hipOccupancyMaxActiveBlocksPerMultiprocessor,
        (int* blocks, const void* kernel, int threads, std::size_t shared),
        (blocks, kernel, threads, shared))
FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
        hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
        (int* blocks, const void* kernel, int threads, std::size_t shared, unsigned flags),
        (blocks, kernel, threads, shared, flags))

CUDA_API int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* kernel,
                                                       int blocks, int) {
  hipFuncAttributes given{};
  int total = 0;
  if (const auto result = hipFuncGetAttributes(&given, kernel); result != hipSuccess) {
    return finish(result);
  }
  const auto result = hipDeviceGetAttribute(&total, hipDeviceAttributeMaxSharedMemoryPerBlock, 0);
  if (result != hipSuccess || blocks <= 0) return fail(invalid_value);
  const auto share = static_cast<std::size_t>(total / blocks);
  *bytes = share > given.sharedSizeBytes ? share - given.sharedSizeBytes : 0;
  return success;
}
