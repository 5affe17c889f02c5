// Launches, attributes of kernels, occupancy.
#include <string>

#include "forward.hpp"
#include "library.hpp"
#include "registration.hpp"

// Of our libamdhip64.so (hip_runtime/exit_status.hpp).
extern "C" void __hipCassFailAtExit(const char* why);

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

Shape shape_of(dim3 given) { return {given.x, given.y, given.z}; }
dim3 dimensions_of(const Shape& given) { return {given.x, given.y, given.z}; }

// The clusters of a launch that asks for `asked`: the kernel's own where it asks for none.
Shape cluster_of(const ClusterKernel& kernel, const std::optional<Shape>& asked) {
  return asked.value_or(Shape{kernel.shape[0], kernel.shape[1], kernel.shape[2]});
}

bool is_in_clusters(const RegisteredCluster* found, const std::optional<Shape>& asked) {
  return found != nullptr && (asked || found->kernel.is_fixed());
}

int launch_in_clusters(const RegisteredCluster& found, const LaunchConfiguration& given,
                       const LaunchRequests& asked, void** arguments, hipStream_t stream) {
  ClusterLaunch made;
  const BlockLaunch blocks{shape_of(given.gridDim), shape_of(given.blockDim),
                           cluster_of(found.kernel, asked.cluster), given.dynamicSmemBytes};
  if (const int result = in_workgroups(found.kernel, blocks, made); result != success) {
    return fail(result);
  }
  const auto grid = dimensions_of(made.grid), block = dimensions_of(made.workgroup);
  void** all = made.with_words(found.kernel, arguments);
  if (asked.cooperative) {
    const auto bytes = static_cast<unsigned>(made.shared_bytes);
    return finish(hipLaunchCooperativeKernel(found.launched, grid, block, all, bytes, stream));
  }
  return finish(hipLaunchKernel(found.launched, grid, block, all, made.shared_bytes, stream));
}

// More threads than a kernel's bounds allow: HIP's code is that of a faulting kernel, CUDA's is
// that of a wrong argument, and later calls go on.
int finish_launch(hipError_t result, const void* kernel, dim3 block) {
  hipFuncAttributes bounds{};
  if (result != hipErrorLaunchFailure || hipFuncGetAttributes(&bounds, kernel) != hipSuccess ||
      block.x * block.y * block.z <= static_cast<unsigned>(bounds.maxThreadsPerBlock)) {
    return finish(result);
  }
  static_cast<void>(hipGetLastError());
  return fail(invalid_value);
}

int launch_registered(const void* kernel, const LaunchConfiguration& given,
                      const LaunchRequests& asked, void** arguments, hipStream_t stream) {
  const auto& [grid, block, shared, own_stream, attributes, count] = given;
  if (const auto* found = registered_cluster(kernel); is_in_clusters(found, asked.cluster)) {
    return launch_in_clusters(*found, given, asked, arguments, stream);
  }
  // A kernel that cannot tell clusters from blocks.
  if (asked.cooperative) {
    const auto bytes = static_cast<unsigned>(shared);
    return finish_launch(hipLaunchCooperativeKernel(kernel, grid, block, arguments, bytes, stream),
                         kernel, block);
  }
  return finish_launch(hipLaunchKernel(kernel, grid, block, arguments, shared, stream), kernel,
                       block);
}

// What CUDA calls a launch that no card can do: of version 13 an H200 gives the driver's code.
constexpr int impossible = CASS_CUDA_VERSION >= 13 ? invalid_value : invalid_configuration;

// The program may look at no error and print what was never computed: it is not to end well.
int launch_left_out(const std::string& why) {
  report_once("a kernel is launched that is left out: " + why);
  __hipCassFailAtExit("a kernel that was launched is left out");
  return fail(invalid_device_function);
}

int launch(const void* kernel, const LaunchConfiguration& given, void** arguments,
           hipStream_t stream) {
  if (earlier_fault() != success) return fail(success);
  if (!is_possible(given.gridDim, given.blockDim)) return fail(impossible);
  if (const auto why = left_out(kernel); !why.empty()) return launch_left_out(why);
  if (loaded_kernel(kernel) != nullptr) return launch_loaded(kernel, given, arguments, stream);
  const auto asked = requests_of(given.attrs, given.numAttrs);
  if (asked.is_updatable) return unsupported("a node that kernels can update");
  int result = launch_registered(kernel, given, asked, arguments, stream);
  if (result == invalid_configuration) result = fail(impossible);
  for (const auto event : asked.events) {
    if (result == success) result = finish(hipEventRecord(event, stream));
  }
  return result;
}

int launch(const LaunchConfiguration* given, const void* kernel, void** arguments,
           hipStream_t stream) {
  if (given == nullptr) return fail(invalid_value);
  return launch(kernel, *given, arguments, stream);
}

int launch_plain(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                 hipStream_t stream) {
  return launch(kernel, {grid, block, shared, stream, nullptr, 0}, arguments, stream);
}

int launch_cooperative(const void* kernel, dim3 grid, dim3 block, void** arguments,
                       std::size_t shared, hipStream_t stream) {
  LaunchAttribute attribute{attribute_cooperative, {}, {}};
  attribute.value.cooperative = 1;
  return launch(kernel, {grid, block, shared, stream, &attribute, 1}, arguments, stream);
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

// Whether blocks can have so much dynamic shared memory; tells the user if not.
bool has_room(const hipFuncAttributes& kernel, int bytes) {
  int total = 0;
  static_cast<void>(hipDeviceGetAttribute(&total, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  const auto left = total - static_cast<int>(kernel.sharedSizeBytes);
  if (bytes > left) {
    report_once("a kernel is to have " + std::to_string(bytes) +
                " bytes of dynamic shared memory, " + std::to_string(left) +
                " are left to it here");
  }
  return bytes >= 0 && bytes <= left;
}

// Of a kernel that was not compiled for clusters, in place of the launch's attribute.
int require_cluster(RegisteredCluster* found, int axis, int blocks) {
  if (found == nullptr) return success;  // it cannot tell clusters from blocks
  if (found->is_compiled_so || blocks <= 0) return fail(invalid_value);
  auto& shape = found->kernel.shape;
  if (!found->kernel.is_fixed()) shape = {1, 1, 1};
  shape[static_cast<std::size_t>(axis)] = static_cast<unsigned>(blocks);
  return success;
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
  if (const auto* found = registered_cluster(kernel); is_in_clusters(found, {})) {
    const auto [x, y, z] = cluster_of(found->kernel, {});
    if (found->is_compiled_so) made->maxThreadsPerBlock /= static_cast<int>(x * y * z);
    made->clusterDimMustBeSet = 1;
    made->requiredClusterWidth = static_cast<int>(x);
    made->requiredClusterHeight = static_cast<int>(y);
    made->requiredClusterDepth = static_cast<int>(z);
  }
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
  enum {
    largest_dynamic_shared = 8,
    carveout = 9,
    first_cluster_size = 11,
    last_cluster_size = 13,
    more_blocks_allowed = 14,
    cluster_scheduling = 15,
  };
  if (attribute == more_blocks_allowed || attribute == cluster_scheduling) return success;
  if (attribute >= first_cluster_size && attribute <= last_cluster_size) {
    return require_cluster(registered_cluster(kernel), attribute - first_cluster_size, value);
  }
  if (attribute != largest_dynamic_shared && attribute != carveout) {
    return unsupported("an attribute of cudaFuncSetAttribute");
  }
  if (attribute == largest_dynamic_shared) {
    hipFuncAttributes given{};
    const auto result = attributes_of(kernel, given);
    if (result != hipSuccess) return finish(result);
    if (!has_room(given, value)) return fail(invalid_value);
  }
  // That of a library has as much as there is without being asked for.
  if (loaded_kernel(kernel) != nullptr) return success;
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

CUDA_API int cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                            const LaunchConfiguration* given) {
  if (clusters == nullptr || given == nullptr) return fail(invalid_value);
  const auto asked = requests_of(given->attrs, given->numAttrs);
  const auto* found = registered_cluster(kernel);
  const auto block = shape_of(given->blockDim);
  const void* launched = kernel;
  auto threads = block.count();
  auto shared = given->dynamicSmemBytes;
  std::uint64_t together = asked.cluster ? asked.cluster->count() : 1;
  if (is_in_clusters(found, asked.cluster)) {
    const auto cluster = cluster_of(found->kernel, asked.cluster);
    const BlockLaunch one{cluster, block, cluster, shared};
    ClusterLaunch made;
    *clusters = 0;
    if (!fits(found->kernel, one)) return success;
    if (const int result = in_workgroups(found->kernel, one, made); result != success) {
      return fail(result);
    }
    launched = found->launched;
    threads = made.workgroup.count();
    shared = made.shared_bytes;
    together = 1;
  }
  int workgroups = 0;
  const int result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &workgroups, launched, static_cast<int>(threads), shared);
  if (result != success || together == 0) return result != success ? result : fail(invalid_value);
  const auto all = std::uint64_t{multiprocessors()} * static_cast<unsigned>(workgroups);
  *clusters = static_cast<int>(all / together);
  return success;
}

CUDA_API int cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                  const LaunchConfiguration* given) {
  if (blocks == nullptr || given == nullptr) return fail(invalid_value);
  const auto* found = registered_cluster(kernel);
  const auto known = found != nullptr ? found->kernel : ClusterKernel{};
  *blocks =
      static_cast<int>(largest_cluster(known, shape_of(given->blockDim), given->dynamicSmemBytes));
  return success;
}
