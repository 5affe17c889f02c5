// cuGetProcAddress: entry points by the name without a version, in the newest one that a program
// compiled for `cuda_version` knows.
#include <dlfcn.h>

#include <array>
#include <string>

#include "result.hpp"

using namespace cass::cuda::driver;

namespace {

struct Since {
  const char* name;
  int cuda_version;
};

// Of CUDA 13's cuda.h: what is newer than all versions that are left.
constexpr std::array newer = {
    Since{"cuCtxCreate_v3", 11040},
    Since{"cuCtxCreate_v4", 12050},
    Since{"cuEventElapsedTime_v2", 12080},
};

bool is_known(const std::string& name, int cuda_version) {
  for (const auto& each : newer) {
    if (name == each.name) return cuda_version >= each.cuda_version;
  }
  return true;
}

// This library, which the program may have opened for itself alone.
void* own_handle() {
  static void* const handle = [] {
    Dl_info self{};
    const auto* address = reinterpret_cast<const void*>(&own_handle);
    return dladdr(address, &self) != 0 ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  }();
  return handle;
}

enum QueryResult : int { found = 0, missing = 1 };

}  // namespace

CUDA_API int cuGetProcAddress_v2(const char* name, void** function, int cuda_version, std::uint64_t,
                                 int* status) {
  if (name == nullptr || function == nullptr) return invalid_value;
  *function = nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    const auto full = std::string(name) + suffix;
    if (!is_known(full, cuda_version)) continue;
    *function = dlsym(own_handle(), full.c_str());
    if (*function != nullptr) break;
  }
  if (status != nullptr) *status = *function != nullptr ? found : missing;
  return *function != nullptr ? success : not_found;
}

CUDA_API int cuGetProcAddress(const char* name, void** function, int cuda_version,
                              std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, cuda_version, flags, nullptr);
}

// Tables of functions that no document names. Nvidia's libraries look whether there is one (NVRTC
// does without), so that no word is said.
CUDA_API int cuGetExportTable(const void** table, const void*) {
  if (table == nullptr) return invalid_value;
  *table = nullptr;
  return not_found;
}
