// What the start-up code of a program compiled by clang calls (CGCUDANV.cpp in clang).
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "device.hpp"
#include "errors.hpp"
#include "module.hpp"
#include "thread_own.hpp"

using namespace cass::hip;

namespace {

constexpr std::uint32_t hip_fat_binary_magic = 0x48495046;  // "HIPF"

// The content of section .hipFatBinSegment.
struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* binary;
  void* unused;
};

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  hipStream_t stream;
};

std::vector<CallConfiguration>& configurations() {
  return thread_own([] { return std::vector<CallConfiguration>(); });
}

Program::FatBinary* binary_of(void** handle) {
  return reinterpret_cast<Program::FatBinary*>(handle);
}

}  // namespace

#define CASS_EXPORT extern "C" __attribute__((visibility("default")))

CASS_EXPORT void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const FatBinaryWrapper*>(data);
  if (wrapper->magic != hip_fat_binary_magic) {
    report("the program's device code is not a HIP fat binary (compiled for another platform?)");
    return nullptr;
  }
  return reinterpret_cast<void**>(Program::instance().add_binary(wrapper->binary));
}

CASS_EXPORT void __hipUnregisterFatBinary(void** handle) {
  // At the program's end, or when a shared library is unloaded: kernels may still be running.
  if (!Stream::on_worker_thread()) Device::synchronize_all();
  if (handle != nullptr) Program::instance().remove_binary(binary_of(handle));
}

CASS_EXPORT void __hipRegisterFunction(void** handle, const void* host_function, char*,
                                       const char* device_name, unsigned, void*, void*, void*,
                                       void*, int*) {
  if (handle == nullptr) return;
  Program::instance().add_function(binary_of(handle), host_function, device_name);
}

CASS_EXPORT void __hipRegisterVar(void** handle, void* host_variable, char*, char* device_name, int,
                                  std::size_t size, int, int) {
  if (handle == nullptr) return;
  Program::instance().add_variable(binary_of(handle), host_variable, device_name, size);
}

CASS_EXPORT void __hipRegisterManagedVar(void* handle, void** pointer, void* initial,
                                         const char* name, std::size_t size, unsigned) {
  if (handle == nullptr) return;
  Program::instance().add_managed_variable(static_cast<Program::FatBinary*>(handle), pointer,
                                           initial, name, size);
}

CASS_EXPORT void __hipRegisterTexture(void** handle, void* host_variable, char*, char* device_name,
                                      int, int, int) {
  if (handle == nullptr) return;
  Program::instance().add_variable(binary_of(handle), host_variable, device_name,
                                   sizeof(textureReference));
}

// Surface references: HIP has no function that binds one.
CASS_EXPORT void __hipRegisterSurface(void**, void*, char*, char*, int, int) {}

CASS_EXPORT hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                  hipStream_t stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return hipSuccess;
}

CASS_EXPORT hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                                 hipStream_t* stream) {
  auto& stack = configurations();
  if (stack.empty()) return record(hipErrorMissingConfiguration);
  const auto& top = stack.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *stream = top.stream;
  stack.pop_back();
  return hipSuccess;
}
