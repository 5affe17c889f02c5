// Entry points for modules, kernel attributes and occupancy.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "../engine/engine.hpp"
#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "image_size.hpp"
#include "launch.hpp"
#include "module.hpp"

using namespace cass::hip;

namespace {

struct Modules {
  std::mutex guard;
  std::map<hipModule_t, std::unique_ptr<ihipModule_t>> loaded;
};

Modules& modules() {
  static auto& all = *new Modules;
  return all;
}

hipError_t load(std::span<const std::byte> image, hipModule_t* handle) {
  hipError_t problem = hipSuccess;
  auto module = ihipModule_t::load(image, Device::current().ordinal, &problem);
  if (module == nullptr) return problem;
  *handle = module.get();
  const std::lock_guard lock(modules().guard);
  modules().loaded.emplace(*handle, std::move(module));
  return hipSuccess;
}

// That of the current device.
hipError_t current_function(const void* host_function, hipFunction_t* found) {
  return Program::instance().function(host_function, Device::current().ordinal, found);
}

bool is_loaded(hipModule_t handle) {
  const std::lock_guard lock(modules().guard);
  return modules().loaded.contains(handle);
}

int binary_version(int device) { return device_properties(device).major * 10; }

int shared_bytes_left(const ihipModuleSymbol_t& function) {
  return static_cast<int>(Device::at(function.device).kind.shared_bytes) -
         static_cast<int>(function.kernel->lds_size);
}

hipError_t function_attribute(int* value, hipFunction_attribute attribute,
                              const ihipModuleSymbol_t& function) {
  const auto& kernel = *function.kernel;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(kernel.max_flat_workgroup_size);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(kernel.lds_size);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(kernel.private_size);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = kernel.vgpr_count; return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = 30;  // what AMD's runtime answers
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = binary_version(function.device);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = shared_bytes_left(function);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

// Workgroups of `block_size` on one multiprocessor; 0 where a block cannot be that large.
hipError_t active_blocks(int* blocks, const cass::amdgpu::Kernel& kernel, int block_size,
                         std::size_t shared_bytes) {
  if (block_size <= 0) return hipErrorInvalidValue;
  *blocks = 0;
  if (static_cast<std::uint64_t>(block_size) > max_threads_per_block) return hipSuccess;
  *blocks = static_cast<int>(
      resident_blocks(kernel, static_cast<std::uint32_t>(block_size), shared_bytes));
  return hipSuccess;
}

// The largest block of whole waves, and the grid that fills the device with it.
hipError_t potential_block_size(int* grid_size, int* block_size, const ihipModuleSymbol_t& function,
                                std::size_t shared_bytes, int limit) {
  const auto& kernel = *function.kernel;
  const int wave = kernel.wave_size;
  const int largest = static_cast<int>(
      std::min<std::uint64_t>(kernel.max_flat_workgroup_size, max_threads_per_block));
  int size = limit > 0 ? std::min(limit, largest) : largest;
  size = std::max((size + wave - 1) / wave * wave, wave);
  int blocks = 0;
  for (; size > 0; size -= wave) {
    if (const auto error = active_blocks(&blocks, kernel, size, shared_bytes);
        error != hipSuccess) {
      return error;
    }
    if (blocks > 0) break;
  }
  *block_size = size;
  *grid_size = blocks * Device::at(function.device).kind.multiprocessors;
  return hipSuccess;
}

}  // namespace

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  if (module == nullptr || image == nullptr) return record(hipErrorInvalidValue);
  const auto* bytes = static_cast<const std::byte*>(image);
  return record(load({bytes, image_size(bytes)}, module));
}

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned, hipJitOption*,
                               void**) {
  return hipModuleLoadData(module, image);
}

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  if (module == nullptr || path == nullptr) return record(hipErrorInvalidValue);
  std::ifstream file(path, std::ios::binary);
  if (!file) return record(hipErrorFileNotFound);
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  return record(load(std::as_bytes(std::span(content)), module));
}

hipError_t hipModuleUnload(hipModule_t module) {
  if (!is_loaded(module)) return record(hipErrorNotFound);
  static_cast<void>(Device::at(module->device).synchronize());
  const std::lock_guard lock(modules().guard);
  return record(modules().loaded.erase(module) == 1 ? hipSuccess : hipErrorNotFound);
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  if (function == nullptr || name == nullptr || *name == '\0') {
    return record(hipErrorInvalidValue);
  }
  if (!is_loaded(module)) return record(hipErrorInvalidResourceHandle);
  *function = module->function(name);
  return record(*function != nullptr ? hipSuccess : hipErrorNotFound);
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, std::size_t* size, hipModule_t module,
                              const char* name) {
  if (name == nullptr || (address == nullptr && size == nullptr)) {
    return record(hipErrorInvalidValue);
  }
  if (!is_loaded(module)) return record(hipErrorInvalidResourceHandle);
  const auto symbol = module->variable(name);
  if (!symbol) return record(hipErrorNotFound);
  if (address != nullptr) *address = symbol->address;
  if (size != nullptr) *size = symbol->size;
  return hipSuccess;
}

hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol) {
  if (function == nullptr || symbol == nullptr) return record(hipErrorInvalidValue);
  return record(Program::instance().function(symbol, Device::current().ordinal, function));
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute,
                               hipFunction_t function) {
  if (value == nullptr) return record(hipErrorInvalidValue);
  if (function == nullptr) return record(hipErrorInvalidDeviceFunction);
  return record(function_attribute(value, attribute, *function));
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* host_function) {
  if (attributes == nullptr) return record(hipErrorInvalidValue);
  hipFunction_t function = nullptr;
  if (const auto error = current_function(host_function, &function); error != hipSuccess) {
    return record(error);
  }
  const auto& kernel = *function->kernel;
  *attributes = {};
  attributes->binaryVersion = binary_version(function->device);
  attributes->ptxVersion = 30;
  attributes->localSizeBytes = kernel.private_size;
  attributes->sharedSizeBytes = kernel.lds_size;
  attributes->maxDynamicSharedSizeBytes = shared_bytes_left(*function);
  attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_flat_workgroup_size);
  attributes->numRegs = kernel.vgpr_count;
  return hipSuccess;
}

// Refuses what AMD's runtime refuses (clr, hip_module.cpp), and sets nothing: dynamic shared memory
// is not limited below what a workgroup can have.
hipError_t hipFuncSetAttribute(const void* host_function, hipFuncAttribute attribute, int value) {
  if (host_function == nullptr) return record(hipErrorInvalidDeviceFunction);
  if (attribute < 0 || attribute > hipFuncAttributeMax) return record(hipErrorInvalidValue);
  hipFunction_t function = nullptr;
  if (const auto error = current_function(host_function, &function); error != hipSuccess) {
    return record(error);
  }
  if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize) return hipSuccess;
  const int left = shared_bytes_left(*function);
  if (value > left) {
    report_once("kernel " + function->kernel->name + " is to have " + std::to_string(value) +
                " bytes of dynamic shared memory, " + std::to_string(left) +
                " are left to it on this device");
  }
  return record(value < 0 || value > left ? hipErrorInvalidValue : hipSuccess);
}

hipError_t hipFuncSetCacheConfig(const void*, hipFuncCache_t) { return hipSuccess; }
hipError_t hipFuncSetSharedMemConfig(const void*, hipSharedMemConfig) { return hipSuccess; }

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host_function,
                                                        int block_size, std::size_t shared_bytes) {
  if (blocks == nullptr) return record(hipErrorInvalidValue);
  hipFunction_t function = nullptr;
  if (const auto error = current_function(host_function, &function); error != hipSuccess) {
    return record(error);
  }
  return record(active_blocks(blocks, *function->kernel, block_size, shared_bytes));
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                 int block_size,
                                                                 std::size_t shared_bytes,
                                                                 unsigned flags) {
  if (flags != hipOccupancyDefault && flags != hipOccupancyDisableCachingOverride) {
    return record(hipErrorInvalidValue);
  }
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes);
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size,
                                             const void* host_function, std::size_t shared_bytes,
                                             int limit) {
  if (grid_size == nullptr || block_size == nullptr) return record(hipErrorInvalidValue);
  hipFunction_t function = nullptr;
  if (const auto error = current_function(host_function, &function); error != hipSuccess) {
    return record(error);
  }
  return record(potential_block_size(grid_size, block_size, *function, shared_bytes, limit));
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int block_size,
                                                              std::size_t shared_bytes) {
  if (blocks == nullptr || function == nullptr) return record(hipErrorInvalidValue);
  return record(active_blocks(blocks, *function->kernel, block_size, shared_bytes));
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, hipFunction_t function, int block_size, std::size_t shared_bytes, unsigned) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size,
                                                            shared_bytes);
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size,
                                                   hipFunction_t function, std::size_t shared_bytes,
                                                   int limit) {
  if (grid_size == nullptr || block_size == nullptr || function == nullptr) {
    return record(hipErrorInvalidValue);
  }
  return record(potential_block_size(grid_size, block_size, *function, shared_bytes, limit));
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size,
                                                            hipFunction_t function,
                                                            std::size_t shared_bytes, int limit,
                                                            unsigned) {
  return hipModuleOccupancyMaxPotentialBlockSize(grid_size, block_size, function, shared_bytes,
                                                 limit);
}

extern "C" HIP_PUBLIC_API const char* hipKernelNameRef(const hipFunction_t function) {
  return function == nullptr ? nullptr : function->kernel->name.c_str();
}

extern "C" HIP_PUBLIC_API const char* hipKernelNameRefByPtr(const void* host_function,
                                                            hipStream_t) {
  return host_function == nullptr ? nullptr : Program::instance().function_name(host_function);
}
