// Modules, libraries, their kernels and variables. Both kinds of handle are HIP's module, a
// CUkernel is HIP's function.
#include "module.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "jit_options.hpp"
#include "lifting.hpp"
#include "result.hpp"

using namespace cass::cuda;
using namespace cass::cuda::driver;

namespace {

struct Known {
  std::mutex guard;
  std::map<hipModule_t, int> capabilities;
  std::map<hipModule_t, std::map<std::string, ClusterKernel>> clusters;
  std::map<hipFunction_t, int> of_kernels;
  std::map<hipFunction_t, LoadedCluster> in_clusters;
};

Known& known() {
  static auto& all = *new Known;  // never destroyed: programs ask in their destructors
  return all;
}

int load(hipModule_t* module, const void* image, const JitOptions& options) {
  if (module == nullptr || image == nullptr) return invalid_value;
  const auto made = lift(whole_image(image));
  options.answer(error_log, error_log_bytes, made.result != success ? made.message : "");
  options.answer(info_log, info_log_bytes, made.result == success ? made.message : "");
  if (!made.message.empty()) report_once(made.message);
  if (made.result != success) return made.result;
  if (const int result = finish(hipModuleLoadData(module, made.code.data())); result != success) {
    return result;
  }
  const std::lock_guard lock(known().guard);
  known().capabilities[*module] = made.capability;
  known().clusters[*module] = read_cluster_kernels(made.clusters);
  return success;
}

int load_file(hipModule_t* module, const char* path) {
  if (module == nullptr || path == nullptr) return invalid_value;
  std::ifstream file(path, std::ios::binary);
  if (!file) return finish(hipErrorFileNotFound);
  std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  content.push_back(0);  // PTX ends with it
  return load(module, content.data(), {});
}

int variable(hipDeviceptr_t* address, std::size_t* bytes, hipModule_t module, const char* name) {
  hipDeviceptr_t found{};
  std::size_t size = 0;
  const auto result = finish(hipModuleGetGlobal(&found, &size, module, name));
  if (result != success) return result;
  if (address != nullptr) *address = found;
  if (bytes != nullptr) *bytes = size;
  return success;
}

int kernel(hipFunction_t* found, hipModule_t module, const char* name) {
  if (found == nullptr || name == nullptr) return invalid_value;
  const int result = finish(hipModuleGetFunction(found, module, name));
  if (result != success) return result;
  const std::lock_guard lock(known().guard);
  known().of_kernels[*found] = known().capabilities[module];
  const auto& clusters = known().clusters[module];
  if (const auto each = clusters.find(name); each != clusters.end()) {
    LoadedCluster made{each->second, *found};
    if (!made.kernel.is_fixed() && !made.kernel.symbol.empty()) {
      const auto* symbol = made.kernel.symbol.c_str();
      const int other = finish(hipModuleGetFunction(&made.launched, module, symbol));
      if (other != success) return other;
    }
    known().in_clusters[*found] = made;
  }
  return success;
}

}  // namespace

int cass::cuda::driver::capability_of(hipFunction_t kernel) {
  const std::lock_guard lock(known().guard);
  const auto found = known().of_kernels.find(kernel);
  return found == known().of_kernels.end() ? 0 : found->second;
}

const LoadedCluster* cass::cuda::driver::loaded_cluster(hipFunction_t kernel) {
  const std::lock_guard lock(known().guard);
  const auto found = known().in_clusters.find(kernel);
  return found == known().in_clusters.end() ? nullptr : &found->second;
}

CUDA_API int cuModuleLoadData(hipModule_t* module, const void* image) {
  return load(module, image, {});
}

CUDA_API int cuModuleLoadDataEx(hipModule_t* module, const void* image, unsigned count, int* names,
                                void** values) {
  return load(module, image, {count, names, values});
}

CUDA_API int cuModuleLoadFatBinary(hipModule_t* module, const void* image) {
  return load(module, image, {});
}

CUDA_API int cuModuleLoad(hipModule_t* module, const char* path) { return load_file(module, path); }

CUDA_API int cuModuleUnload(hipModule_t module) {
  {
    const std::lock_guard lock(known().guard);
    known().capabilities.erase(module);
    known().clusters.erase(module);
  }
  return finish(hipModuleUnload(module));
}

CUDA_API int cuModuleGetFunction(hipFunction_t* found, hipModule_t module, const char* name) {
  return kernel(found, module, name);
}

CUDA_API int cuModuleGetGlobal_v2(hipDeviceptr_t* address, std::size_t* bytes, hipModule_t module,
                                  const char* name) {
  return variable(address, bytes, module, name);
}

CUDA_API int cuLibraryLoadData(hipModule_t* library, const void* image, int* names, void** values,
                               unsigned count, int*, void**, unsigned) {
  return load(library, image, {count, names, values});
}

CUDA_API int cuLibraryLoadFromFile(hipModule_t* library, const char* path, int*, void**, unsigned,
                                   int*, void**, unsigned) {
  return load_file(library, path);
}

CUDA_API int cuLibraryUnload(hipModule_t library) { return cuModuleUnload(library); }

CUDA_API int cuLibraryGetKernel(hipFunction_t* found, hipModule_t library, const char* name) {
  return kernel(found, library, name);
}

CUDA_API int cuLibraryGetModule(hipModule_t* module, hipModule_t library) {
  if (module == nullptr) return invalid_value;
  *module = library;
  return success;
}

CUDA_API int cuLibraryGetGlobal(hipDeviceptr_t* address, std::size_t* bytes, hipModule_t library,
                                const char* name) {
  return variable(address, bytes, library, name);
}

CUDA_API int cuKernelGetFunction(hipFunction_t* function, hipFunction_t kernel) {
  if (function == nullptr) return invalid_value;
  *function = kernel;
  return success;
}
