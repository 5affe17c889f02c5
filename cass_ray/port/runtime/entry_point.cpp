// cudaGetDriverEntryPoint: functions of the driver interface, for programs that do not link it.
#include <dlfcn.h>

#include <cstdint>

#include "driver.hpp"
#include "status.hpp"

using namespace cass::cuda;

namespace {

using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);

}  // namespace

void* cass::cuda::driver_function(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

// A symbol that is missing is no error: `status` tells, and the function is null.
CUDA_API int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                              unsigned long long flags, int* status) {
  if (symbol == nullptr || function == nullptr) return fail(invalid_value);
  const auto lookup = reinterpret_cast<GetProcAddress>(driver_function("cuGetProcAddress_v2"));
  if (lookup == nullptr) return unsupported("cudaGetDriverEntryPoint without a libcuda.so.1");
  lookup(symbol, function, static_cast<int>(version), flags, status);
  return success;
}

CUDA_API int cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                   unsigned version, unsigned long long flags,
                                                   int* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, version, flags, status);
}

CUDA_API int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                     int* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CASS_CUDA_VERSION * 1000, flags,
                                          status);
}

CUDA_API int cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                          unsigned long long flags, int* status) {
  return cudaGetDriverEntryPoint(symbol, function, flags, status);
}
