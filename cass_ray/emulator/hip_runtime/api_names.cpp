// Names of entry points by the numbers of AMD's tracing interface.
#include <hip/amd_detail/hip_prof_str.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime_api.h>

extern "C" HIP_PUBLIC_API const char* hipApiName(std::uint32_t id) { return hip_api_name(id); }
