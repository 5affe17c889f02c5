// Libraries: device code that the program loads while it runs, by the driver interface, whose
// handles are the runtime's too.
#include "library.hpp"

#include <cstddef>
#include <map>
#include <mutex>

#include "driver.hpp"
#include "status.hpp"

using namespace cass::cuda;

namespace {

struct Kernels {
  std::mutex guard;
  std::map<const void*, void*> libraries;  // by kernel
};

Kernels& kernels() {
  static auto& all = *new Kernels;  // never destroyed: programs ask in their destructors
  return all;
}

// Calls `name` of the driver interface.
template <class... Arguments>
int driver_call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(driver_function(name));
  if (function == nullptr) return unsupported("a library without a libcuda.so.1");
  return fail(function(arguments...));
}

}  // namespace

hipFunction_t cass::cuda::loaded_kernel(const void* kernel) {
  const std::lock_guard lock(kernels().guard);
  if (!kernels().libraries.contains(kernel)) return nullptr;
  return static_cast<hipFunction_t>(const_cast<void*>(kernel));
}

int cass::cuda::capability_of_loaded(hipFunction_t kernel) {
  constexpr int binary_version = 6;
  int capability = 0;
  driver_call("cuFuncGetAttribute", &capability, binary_version, kernel);
  return capability;
}

int cass::cuda::launch_loaded(const void* kernel, const LaunchConfiguration& given,
                              void** arguments, hipStream_t stream) {
  // CUlaunchConfig of cuda.h.
  const struct {
    dim3 grid, block;
    unsigned shared_bytes;
    hipStream_t stream;
    LaunchAttribute* attributes;
    unsigned count;
  } configuration{given.gridDim, given.blockDim, static_cast<unsigned>(given.dynamicSmemBytes),
                  stream,        given.attrs,    given.numAttrs};
  void** no_buffer = nullptr;
  return driver_call("cuLaunchKernelEx", static_cast<const void*>(&configuration),
                     const_cast<void*>(kernel), arguments, no_buffer);
}

CUDA_API int cudaLibraryLoadData(void** library, const void* image, int* names, void** values,
                                 unsigned count, int* library_names, void** library_values,
                                 unsigned library_count) {
  return driver_call("cuLibraryLoadData", library, image, names, values, count, library_names,
                     library_values, library_count);
}

CUDA_API int cudaLibraryLoadFromFile(void** library, const char* path, int* names, void** values,
                                     unsigned count, int* library_names, void** library_values,
                                     unsigned library_count) {
  return driver_call("cuLibraryLoadFromFile", library, path, names, values, count, library_names,
                     library_values, library_count);
}

CUDA_API int cudaLibraryUnload(void* library) {
  {
    const std::lock_guard lock(kernels().guard);
    std::erase_if(kernels().libraries, [=](const auto& each) { return each.second == library; });
  }
  return driver_call("cuLibraryUnload", library);
}

CUDA_API int cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  const int result = driver_call("cuLibraryGetKernel", kernel, library, name);
  if (result != success) return result;
  const std::lock_guard lock(kernels().guard);
  kernels().libraries[*kernel] = library;
  return success;
}

CUDA_API int cudaLibraryGetGlobal(void** address, std::size_t* bytes, void* library,
                                  const char* name) {
  return driver_call("cuLibraryGetGlobal", address, bytes, library, name);
}
