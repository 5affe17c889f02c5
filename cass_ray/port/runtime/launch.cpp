// Launches, attributes of kernels, occupancy.
#include "forward.hpp"
#include "library.hpp"
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

int launch_plain(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                 hipStream_t stream) {
  if (!is_possible(grid, block)) return fail(hipErrorInvalidConfiguration);
  if (const auto loaded = loaded_kernel(kernel)) {
    return finish(hipModuleLaunchKernel(loaded, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                        static_cast<unsigned>(shared), stream, arguments, nullptr));
  }
  return finish(hipLaunchKernel(kernel, grid, block, arguments, shared, stream));
}

int launch_cooperative(const void* kernel, dim3 grid, dim3 block, void** arguments,
                       std::size_t shared, hipStream_t stream) {
  const auto bytes = static_cast<unsigned>(shared);
  if (const auto loaded = loaded_kernel(kernel)) {
    return finish(hipModuleLaunchCooperativeKernel(loaded, grid.x, grid.y, grid.z, block.x, block.y,
                                                   block.z, bytes, stream, arguments));
  }
  return finish(hipLaunchCooperativeKernel(kernel, grid, block, arguments, bytes, stream));
}

int launch(const LaunchConfiguration* given, const void* kernel, void** arguments,
           hipStream_t stream) {
  if (given == nullptr) return fail(invalid_value);
  const auto [cooperative, clusters] = requests_of(given->attrs, given->numAttrs);
  if (clusters) return unsupported("a cluster of more than one block");
  if (cooperative && !is_possible(given->gridDim, given->blockDim)) {
    return fail(hipErrorInvalidConfiguration);
  }
  const auto way = cooperative ? launch_cooperative : launch_plain;
  return way(kernel, given->gridDim, given->blockDim, arguments, given->dynamicSmemBytes, stream);
}

hipError_t attributes_of(const void* kernel, hipFuncAttributes& made) {
  const auto loaded = loaded_kernel(kernel);
  if (loaded == nullptr) return hipFuncGetAttributes(&made, kernel);
  const auto read = [&](hipFunction_attribute which) {
    int value = 0;
    static_cast<void>(hipFuncGetAttribute(&value, which, loaded));
    return value;
  };
  made.sharedSizeBytes = static_cast<std::size_t>(read(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  made.constSizeBytes = static_cast<std::size_t>(read(HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  made.localSizeBytes = static_cast<std::size_t>(read(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  made.maxThreadsPerBlock = read(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  made.numRegs = read(HIP_FUNC_ATTRIBUTE_NUM_REGS);
  made.maxDynamicSharedSizeBytes = read(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  return hipSuccess;
}

}  // namespace

CUDA_API int cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                              std::size_t shared, hipStream_t stream) {
  return launch_plain(kernel, grid, block, arguments, shared, stream);
}

CUDA_API int cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                   std::size_t shared, hipStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, per_thread(stream));
}

// What launch stubs of nvcc 13 call.
CUDA_API int __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                std::size_t shared, hipStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

CUDA_API int __cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                     std::size_t shared, hipStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, per_thread(stream));
}

CUDA_API int cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                         void** arguments, std::size_t shared, hipStream_t stream) {
  return launch_cooperative(kernel, grid, block, arguments, shared, stream);
}

CUDA_API int cudaLaunchCooperativeKernel_ptsz(const void* kernel, dim3 grid, dim3 block,
                                              void** arguments, std::size_t shared,
                                              hipStream_t stream) {
  return launch_cooperative(kernel, grid, block, arguments, shared, per_thread(stream));
}

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
  if (const auto result = attributes_of(kernel, given); result != hipSuccess) {
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
  const auto loaded = loaded_kernel(kernel);
  made->ptxVersion = loaded != nullptr ? capability_of_loaded(loaded) : capability_of(kernel);
  made->binaryVersion = made->ptxVersion;
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
  if (loaded_kernel(kernel) != nullptr) {  // as large as it can be without being asked for
    hipFuncAttributes given{};
    static_cast<void>(attributes_of(kernel, given));
    const bool fits = attribute == carveout || value <= given.maxDynamicSharedSizeBytes;
    return fits ? success : fail(invalid_value);
  }
  return finish(hipFuncSetAttribute(kernel, static_cast<hipFuncAttribute>(attribute), value));
}

// Preferences: a device may ignore them.
CUDA_API int cudaFuncSetCacheConfig(const void*, int) { return success; }
CUDA_API int cudaFuncSetSharedMemConfig(const void*, int) { return success; }

CUDA_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                    int threads, std::size_t shared,
                                                                    unsigned flags) {
  if (const auto loaded = loaded_kernel(kernel)) {
    return finish(
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, loaded, threads, shared));
  }
  return finish(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads,
                                                                      shared, flags));
}

CUDA_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                           int threads, std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, 0);
}

CUDA_API int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* kernel,
                                                       int blocks, int) {
  hipFuncAttributes given{};
  int total = 0;
  if (const auto result = attributes_of(kernel, given); result != hipSuccess) {
    return finish(result);
  }
  const auto result = hipDeviceGetAttribute(&total, hipDeviceAttributeMaxSharedMemoryPerBlock, 0);
  if (result != hipSuccess || blocks <= 0) return fail(invalid_value);
  const auto share = static_cast<std::size_t>(total / blocks);
  *bytes = share > given.sharedSizeBytes ? share - given.sharedSizeBytes : 0;
  return success;
}
