// Loaded code objects: those compiled into the program and those of hipModuleLoad.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../engine/engine.hpp"
#include "remote_device.hpp"

// A kernel that a program has a handle of.
struct ihipModuleSymbol_t {
  const cass::amdgpu::Kernel* kernel = nullptr;
  std::shared_ptr<cass::hip::RemoteCode> code_object;
  int device = 0;  // that it is loaded for
};

// A code object with its handles. Thread-safe.
struct ihipModule_t {
  // Loads the code object of a device in `image`: an ELF file or an offload bundle, compressed or
  // not. Reports why it cannot, and returns null. `problem`: hipErrorNoBinaryForGpu for code of
  // another GPU, else hipErrorInvalidImage.
  static std::unique_ptr<ihipModule_t> load(std::span<const std::byte> image, int device,
                                            hipError_t* problem = nullptr);
  ~ihipModule_t();

  hipFunction_t function(std::string_view name);  // null if there is none
  std::optional<cass::amdgpu::Symbol> variable(std::string_view name);

  std::shared_ptr<cass::hip::RemoteCode> code_object;
  int device = 0;

 private:
  std::mutex guard_;
  std::map<std::string, std::unique_ptr<ihipModuleSymbol_t>, std::less<>> functions_;
  std::map<std::string, cass::amdgpu::Symbol, std::less<>> variables_;
};

namespace cass::hip {

// The code objects that the program's start-up code registers, loaded at their first use.
class Program {
 public:
  struct FatBinary {
    const std::byte* image = nullptr;
    std::map<int, std::unique_ptr<ihipModule_t>> modules;  // by device; null: it has no code for it
    std::vector<std::pair<std::string, void*>> managed;  // variable name, managed memory
  };

  static Program& instance();

  // What the program's own code is for, "gfx942"; empty where it brings none that the engine runs.
  std::string processor();

  FatBinary* add_binary(const void* image);
  void add_function(FatBinary* binary, const void* host, const char* name);
  void add_variable(FatBinary* binary, const void* host, const char* name, std::size_t size);
  void add_managed_variable(FatBinary* binary, void** pointer, const void* initial,
                            const char* name, std::size_t size);
  void remove_binary(FatBinary* binary);

  // The kernel of a host function (the address that <<<>>> passes to hipLaunchKernel), or of a
  // handle that hipGetFuncBySymbol gave, for a device. hipErrorInvalidDeviceFunction,
  // hipErrorNoBinaryForGpu.
  hipError_t function(const void* host, int device, hipFunction_t* found);

  // A device's __device__ or __constant__ variable by its host address. hipErrorInvalidSymbol.
  hipError_t variable(const void* host, int device, amdgpu::Symbol* found);

  // The name that a kernel was registered under; null for an unknown address.
  const char* function_name(const void* host);

 private:
  struct Entry {
    FatBinary* binary;
    std::string name;
    std::size_t size;
  };

  ihipModule_t* module_of(FatBinary* binary, int device);

  std::recursive_mutex guard_;
  std::vector<std::unique_ptr<FatBinary>> binaries_;
  std::map<const void*, Entry> functions_;
  std::map<const void*, Entry> variables_;
  std::map<const void*, std::pair<void*, std::size_t>> managed_;
};

}  // namespace cass::hip
