#include "launch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "graph_exec.hpp"
#include "memory.hpp"
#include "pool.hpp"
#include "remote_device.hpp"

namespace cass::hip {
namespace {

using amdgpu::FaultKind;

std::uint64_t product(const std::array<std::uint32_t, 3>& sizes) {
  return std::uint64_t{sizes[0]} * sizes[1] * sizes[2];
}

// The error that a GPU's runtime would give for the fault.
hipError_t error_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::unsupported_instruction: return hipErrorNotSupported;
    case FaultKind::invalid_launch: return hipErrorInvalidConfiguration;
    case FaultKind::memory_access:
    case FaultKind::out_of_bounds:
    case FaultKind::use_after_free: return hipErrorIllegalAddress;
    case FaultKind::assertion: return hipErrorAssert;
    case FaultKind::time_limit: return hipErrorLaunchTimeOut;
    default: return hipErrorLaunchFailure;
  }
}

// Said, since many programs do not look at the error, and Nvidia's cards have more.
hipError_t too_much_shared(const amdgpu::Kernel& kernel, const LaunchRequest& request,
                           const DeviceKind& kind) {
  report_once("kernel " + kernel.name + ": " +
              std::to_string(kernel.lds_size + request.shared_bytes) +
              " bytes of shared memory in a block, but " + std::string(kind.processor) + " has " +
              std::to_string(kind.shared_bytes) + ": it is not launched");
  return hipErrorInvalidValue;
}

hipError_t check(const LaunchRequest& request) {
  const auto& kernel = *request.function->kernel;
  const DeviceKind& kind = Device::at(request.function->device).kind;
  const auto threads = product(request.block_threads);
  if (threads == 0 || product(request.grid_blocks) == 0) return hipErrorInvalidConfiguration;
  for (int dimension = 0; dimension < 3; ++dimension) {
    // A dispatch packet holds the number of work-items in 32 bits.
    if (std::uint64_t{request.grid_blocks[dimension]} * request.block_threads[dimension] >
        std::numeric_limits<std::uint32_t>::max()) {
      return hipErrorInvalidConfiguration;
    }
  }
  if (request.arguments != nullptr && request.extra != nullptr) return hipErrorInvalidValue;
  if (request.shared_bytes > kind.shared_bytes) return too_much_shared(kernel, request, kind);
  if (threads > max_threads_per_block) {
    return request.cooperative ? hipErrorInvalidConfiguration : hipErrorInvalidValue;
  }
  if (threads > kernel.max_flat_workgroup_size) {
    report_once("kernel " + kernel.name + ": " + std::to_string(threads) +
                " threads in a block, but it is compiled for at most " +
                std::to_string(kernel.max_flat_workgroup_size) + " (__launch_bounds__)");
    return hipErrorLaunchFailure;
  }
  if (kernel.lds_size + request.shared_bytes > kind.shared_bytes) {
    return too_much_shared(kernel, request, kind);
  }
  if (request.cooperative) {
    const auto resident =
        static_cast<std::uint64_t>(kind.multiprocessors) *
        resident_blocks(kernel, static_cast<std::uint32_t>(threads), request.shared_bytes);
    if (product(request.grid_blocks) > resident) return hipErrorCooperativeLaunchTooLarge;
  }
  return hipSuccess;
}

}  // namespace

std::uint32_t resident_blocks(const amdgpu::Kernel& kernel, std::uint32_t block_threads,
                              std::size_t dynamic_shared_bytes) {
  return amdgpu::max_workgroups_per_compute_unit(kernel, block_threads,
                                                 static_cast<std::uint32_t>(dynamic_shared_bytes));
}

hipError_t KernelOperation::make(const LaunchRequest& request,
                                 std::shared_ptr<KernelOperation>* made) {
  if (request.function == nullptr) return hipErrorInvalidHandle;
  if (const auto error = check(request); error != hipSuccess) return error;
  auto operation = std::make_shared<KernelOperation>();
  operation->request_ = request;
  operation->code_object_ = request.function->code_object;
  operation->named_by = request.function;
  if (const auto error = operation->copy_arguments(); error != hipSuccess) return error;
  *made = std::move(operation);
  return hipSuccess;
}

hipError_t KernelOperation::copy_arguments() {
  const auto& kernel = *request_.function->kernel;
  kernarg_.assign(kernel.kernarg_size, std::byte{0});
  const auto& arguments = kernel.arguments;
  const bool has_explicit =
      std::any_of(arguments.begin(), arguments.end(),
                  [](const auto& argument) { return !amdgpu::is_hidden(argument.kind); });
  if (!has_explicit) return hipSuccess;
  if (request_.arguments != nullptr) {
    std::size_t index = 0;
    for (const auto& argument : arguments) {
      if (amdgpu::is_hidden(argument.kind)) continue;
      const void* value = request_.arguments[index++];
      if (value == nullptr) return hipErrorInvalidValue;
      std::memcpy(kernarg_.data() + argument.offset, value, argument.size);
    }
    return hipSuccess;
  }
  void** extra = request_.extra;
  if (extra == nullptr || extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
      extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE || extra[4] != HIP_LAUNCH_PARAM_END) {
    return hipErrorInvalidValue;
  }
  std::size_t end = 0;  // of the explicit arguments: the program knows nothing of hidden ones
  for (const auto& argument : arguments) {
    if (!amdgpu::is_hidden(argument.kind)) {
      end = std::max(end, std::size_t{argument.offset} + argument.size);
    }
  }
  const auto given = *static_cast<const std::size_t*>(extra[3]);
  std::memcpy(kernarg_.data(), extra[1], std::min({given, end, kernarg_.size()}));
  request_.extra = nullptr;  // the program's array may be gone when the graph asks
  return hipSuccess;
}

// Memory of another device is a fault until peer access to it is enabled. Only the pointers among
// the arguments themselves are looked at, not those in structures or in memory.
hipError_t KernelOperation::check_peers() const {
  const Device& device = Device::at(request_.function->device);
  if (Device::count() == 1) return hipSuccess;
  for (const auto& argument : request_.function->kernel->arguments) {
    void* pointer = nullptr;
    if (argument.kind != amdgpu::ArgumentKind::global_buffer || argument.size != sizeof pointer) {
      continue;
    }
    std::memcpy(&pointer, kernarg_.data() + argument.offset, sizeof pointer);
    const auto allocation = Memory::instance().find(pointer);
    const bool shared =
        !allocation || !allocation->on_device() || allocation->kind == MemoryKind::managed;
    if (shared || device.reaches(allocation->device)) continue;
    Pool* pool = allocation->pool;
    if (pool != nullptr && pool->access(device.ordinal) != hipMemAccessFlagsProtNone) continue;
    report("kernel " + request_.function->kernel->name + " on device " +
           std::to_string(device.ordinal) + ": an argument is memory of device " +
           std::to_string(allocation->device) +
           ", to which it has no access (hipDeviceEnablePeerAccess)");
    return hipErrorIllegalAddress;
  }
  return hipSuccess;
}

hipError_t KernelOperation::run() {
  if (const auto error = check_peers(); error != hipSuccess) return error;
  device::Launch launch;
  launch.code_object = code_object_->number;
  launch.kernel = code_object_->number_of(*request_.function->kernel);
  launch.grid_blocks = request_.grid_blocks;
  launch.block_threads = request_.block_threads;
  launch.remainder = request_.remainder_threads;
  launch.dynamic_lds_bytes = static_cast<std::uint32_t>(request_.shared_bytes);
  launch.stack_bytes =
      static_cast<std::uint32_t>(Device::at(request_.function->device).stack_bytes);
  launch.cooperative = request_.cooperative ? 1 : 0;
  launch.graph = GraphLaunchOperation::is_running() ? 1 : 0;
  std::vector<RemoteDevice::Fault> faults;
  auto result = RemoteDevice::instance().launch(launch, kernarg_, faults);
  for (const auto& fault : faults) {
    report(fault.text);
    if (result == hipSuccess && !amdgpu::is_warning(fault.kind)) result = error_of(fault.kind);
  }
  return result;
}

hipKernelNodeParams KernelOperation::parameters() {
  argument_pointers_.clear();
  for (const auto& argument : request_.function->kernel->arguments) {
    if (!amdgpu::is_hidden(argument.kind)) {
      argument_pointers_.push_back(kernarg_.data() + argument.offset);
    }
  }
  const auto& grid = request_.grid_blocks;
  const auto& block = request_.block_threads;
  hipKernelNodeParams parameters{};
  parameters.func = named_by;
  parameters.gridDim = dim3(grid[0], grid[1], grid[2]);
  parameters.blockDim = dim3(block[0], block[1], block[2]);
  parameters.kernelParams = argument_pointers_.data();
  parameters.sharedMemBytes = static_cast<unsigned>(request_.shared_bytes);
  return parameters;
}

}  // namespace cass::hip
