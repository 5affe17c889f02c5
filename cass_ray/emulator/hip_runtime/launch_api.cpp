// Entry points that launch kernels.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <limits>
#include <string>

#include "device.hpp"
#include "device_kind.hpp"
#include "errors.hpp"
#include "event.hpp"
#include "exit_status.hpp"
#include "launch.hpp"
#include "module.hpp"
#include "remote_device.hpp"

using namespace cass::hip;

namespace {

std::array<std::uint32_t, 3> sizes(dim3 value) { return {value.x, value.y, value.z}; }

// "the kernel K of /usr/lib/libx.so has no code for gfx942". As with AMD's compiler on a card,
// kernels are there when the constructors of their file's objects are done, and until the
// destructors begin; with nvcc for these as well.
std::string lost_launch(const void* function, int device) {
  const char* kernel = Program::instance().function_name(function);
  Dl_info place{};
  const bool known = ::dladdr(function, &place) != 0 && place.dli_fname != nullptr;
  std::string text = std::string("the kernel ") + (kernel != nullptr ? kernel : "(unnamed)");
  if (known) text += std::string(" of ") + place.dli_fname;
  if (kernel == nullptr) {
    return text + " is not there: an object of its file launches it before main or after it";
  }
  text += " has no code for ";
  text += device_kinds()[static_cast<std::size_t>(device)]->processor;
  return text;
}

// Launches between two optional events.
hipError_t submit(hipStream_t handle, const LaunchRequest& request, void* named_by,
                  hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
  const auto stream = Device::stream(handle);
  if (stream == nullptr) return hipErrorInvalidHandle;
  if (request.function != nullptr && request.function->device != stream->device().ordinal) {
    return hipErrorInvalidResourceHandle;  // loaded for another device
  }
  std::shared_ptr<KernelOperation> operation;
  if (const auto error = KernelOperation::make(request, &operation); error != hipSuccess) {
    if (request.function != nullptr) {
      RemoteDevice::instance().note_failed_launch(request.function->kernel->name);
    }
    return error;
  }
  operation->named_by = named_by;
  if (start != nullptr) {
    if (const auto error = record_event(start, stream); error != hipSuccess) return error;
  }
  const auto error = Device::submit(stream, std::move(operation));
  if (error != hipSuccess || stop == nullptr) return error;
  return record_event(stop, stream);
}

hipError_t launch_host_function(const void* function, dim3 grid, dim3 block, void** arguments,
                                std::size_t shared_bytes, hipStream_t stream, bool cooperative,
                                hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
  LaunchRequest request;
  const auto owner = Device::stream(stream);
  if (owner == nullptr) return hipErrorInvalidHandle;
  const int device = owner->device().ordinal;
  if (const auto error = Program::instance().function(function, device, &request.function);
      error != hipSuccess) {
    if (function != nullptr) note_lost_launch(lost_launch(function, device));
    return error;
  }
  request.grid_blocks = sizes(grid);
  request.block_threads = sizes(block);
  request.shared_bytes = shared_bytes;
  request.arguments = arguments;
  request.cooperative = cooperative;
  return submit(stream, request, const_cast<void*>(function), start, stop);
}

// `work_items`: of the whole grid, not necessarily a multiple of the block.
hipError_t launch_work_items(hipFunction_t function, dim3 work_items, dim3 block,
                             std::size_t shared_bytes, hipStream_t stream, void** arguments,
                             void** extra, hipEvent_t start, hipEvent_t stop) {
  LaunchRequest request;
  request.function = function;
  const auto total = sizes(work_items);
  request.block_threads = sizes(block);
  for (int dimension = 0; dimension < 3; ++dimension) {
    auto& threads = request.block_threads[dimension];
    if (threads == 0 || total[dimension] == 0) return hipErrorInvalidConfiguration;
    threads = std::min(threads, total[dimension]);
    request.grid_blocks[dimension] = (total[dimension] + threads - 1) / threads;
    request.remainder_threads[dimension] = total[dimension] % threads;
  }
  request.shared_bytes = shared_bytes;
  request.arguments = arguments;
  request.extra = extra;
  return submit(stream, request, function, start, stop);
}

hipError_t launch_function(hipFunction_t function, dim3 grid, dim3 block, unsigned shared_bytes,
                           hipStream_t stream, void** arguments, void** extra, bool cooperative) {
  LaunchRequest request;
  request.function = function;
  request.grid_blocks = sizes(grid);
  request.block_threads = sizes(block);
  request.shared_bytes = shared_bytes;
  request.arguments = arguments;
  request.extra = extra;
  request.cooperative = cooperative;
  return submit(stream, request, function);
}

}  // namespace

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, hipStream_t stream) {
  return record(
      launch_host_function(function, grid, block, arguments, shared_bytes, stream, false));
}

extern "C" HIP_PUBLIC_API hipError_t hipLaunchKernel_spt(const void* function, dim3 grid,
                                                         dim3 block, void** arguments,
                                                         std::size_t shared_bytes,
                                                         hipStream_t stream) {
  return hipLaunchKernel(function, grid, block, arguments, shared_bytes,
                         stream == nullptr ? hipStreamPerThread : stream);
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                              std::size_t shared_bytes, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, int) {
  return record(launch_host_function(function, grid, block, arguments, shared_bytes, stream, false,
                                     start, stop));
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
  return record(launch_host_function(function, grid, block, arguments, shared_bytes, stream, true));
}

extern "C" HIP_PUBLIC_API hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 grid,
                                                                    dim3 block, void** arguments,
                                                                    std::uint32_t shared_bytes,
                                                                    hipStream_t stream) {
  return hipLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes,
                                    stream == nullptr ? hipStreamPerThread : stream);
}

// Grids of several devices that synchronize with each other are not there: one launch only.
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* launches, int devices, unsigned) {
  if (launches == nullptr || devices < 1) return record(hipErrorInvalidValue);
  if (devices > 1) return unsupported("hipLaunchCooperativeKernelMultiDevice on several devices");
  const auto& launch = launches[0];
  return record(launch_host_function(launch.func, launch.gridDim, launch.blockDim, launch.args,
                                     launch.sharedMem, launch.stream, true));
}

hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* launches, int devices, unsigned) {
  if (launches == nullptr || devices < 1) return record(hipErrorInvalidValue);
  for (int each = 0; each < devices; ++each) {
    const auto& launch = launches[each];
    const auto error = launch_host_function(launch.func, launch.gridDim, launch.blockDim,
                                            launch.args, launch.sharedMem, launch.stream, false);
    if (error != hipSuccess) return record(error);
  }
  return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                 void** arguments, void** extra) {
  return record(launch_function(function, dim3(grid_x, grid_y, grid_z),
                                dim3(block_x, block_y, block_z), shared_bytes, stream, arguments,
                                extra, false));
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                                            unsigned block_y, unsigned block_z,
                                            unsigned shared_bytes, hipStream_t stream,
                                            void** arguments) {
  return record(launch_function(function, dim3(grid_x, grid_y, grid_z),
                                dim3(block_x, block_y, block_z), shared_bytes, stream, arguments,
                                nullptr, true));
}

hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams* launches,
                                                       unsigned devices, unsigned) {
  if (launches == nullptr || devices != 1) return record(hipErrorInvalidValue);
  const auto& launch = launches[0];
  return record(
      launch_function(launch.function, dim3(launch.gridDimX, launch.gridDimY, launch.gridDimZ),
                      dim3(launch.blockDimX, launch.blockDimY, launch.blockDimZ),
                      launch.sharedMemBytes, launch.hStream, launch.kernelParams, nullptr, true));
}

extern "C" HIP_PUBLIC_API hipError_t hipExtModuleLaunchKernel(
    hipFunction_t function, std::uint32_t work_items_x, std::uint32_t work_items_y,
    std::uint32_t work_items_z, std::uint32_t block_x, std::uint32_t block_y, std::uint32_t block_z,
    std::size_t shared_bytes, hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
    hipEvent_t stop, std::uint32_t) {
  return record(launch_work_items(function, dim3(work_items_x, work_items_y, work_items_z),
                                  dim3(block_x, block_y, block_z), shared_bytes, stream, arguments,
                                  extra, start, stop));
}

extern "C" HIP_PUBLIC_API hipError_t hipHccModuleLaunchKernel(
    hipFunction_t function, std::uint32_t work_items_x, std::uint32_t work_items_y,
    std::uint32_t work_items_z, std::uint32_t block_x, std::uint32_t block_y, std::uint32_t block_z,
    std::size_t shared_bytes, hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
    hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, work_items_x, work_items_y, work_items_z, block_x,
                                  block_y, block_z, shared_bytes, stream, arguments, extra, start,
                                  stop, 0);
}
