// Devices, contexts, versions.
#include <cstdlib>

#include "result.hpp"

using namespace cass::cuda::driver;

namespace {

constexpr int version = 13000;
constexpr int capability_major = 75, capability_minor = 76, warp_size = 10, cluster_launch = 120;

// As runtime/device.cpp: the capability that the program was compiled for, sm_90 where it has none.
int capability() {
  const char* text = std::getenv("CASS_PORT_CAPABILITY");
  const int value = text != nullptr ? std::atoi(text) : 0;
  return value > 0 ? value : 90;
}

}  // namespace

FORWARD(cuInit, hipInit, (unsigned flags), (flags))
FORWARD(cuDeviceGet, hipDeviceGet, (hipDevice_t * device, int ordinal), (device, ordinal))
FORWARD(cuDeviceGetCount, hipGetDeviceCount, (int* count), (count))
FORWARD(cuDeviceGetName, hipDeviceGetName, (char* text, int size, hipDevice_t device),
        (text, size, device))
FORWARD(cuDeviceTotalMem_v2, hipDeviceTotalMem, (std::size_t* bytes, hipDevice_t device),
        (bytes, device))
FORWARD(cuDeviceGetUuid, hipDeviceGetUuid, (hipUUID * uuid, hipDevice_t device), (uuid, device))
FORWARD(cuDeviceGetUuid_v2, hipDeviceGetUuid, (hipUUID * uuid, hipDevice_t device), (uuid, device))
FORWARD(cuDeviceCanAccessPeer, hipDeviceCanAccessPeer,
        (int* can, hipDevice_t device, hipDevice_t peer), (can, device, peer))
FORWARD(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, (char* text, int size, hipDevice_t device),
        (text, size, device))

CUDA_API int cuDriverGetVersion(int* found) {
  if (found == nullptr) return invalid_value;
  *found = version;
  return success;
}

CUDA_API int cuDeviceGetAttribute(int* value, int attribute, hipDevice_t device) {
  int count = 0;
  if (value == nullptr) return invalid_value;
  if (hipGetDeviceCount(&count) != hipSuccess || device < 0 || device >= count) {
    return finish(hipErrorInvalidDevice);
  }
  switch (attribute) {
    case capability_major: *value = capability() / 10; return success;
    case capability_minor: *value = capability() % 10; return success;
    case warp_size: *value = 32; return success;
    case cluster_launch: *value = capability() >= 90 ? 1 : 0; return success;
#define CASS_CUDA_ATTRIBUTE(number, name, target) \
  case number: return finish(hipDeviceGetAttribute(value, target, device));
#include "../runtime/attributes.inc"
#undef CASS_CUDA_ATTRIBUTE
    default: return invalid_value;
  }
}

CUDA_API int cuDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  const int result = cuDeviceGetAttribute(major, capability_major, device);
  return result != success ? result : cuDeviceGetAttribute(minor, capability_minor, device);
}

FORWARD(cuCtxCreate_v2, hipCtxCreate, (hipCtx_t * made, unsigned flags, hipDevice_t device),
        (made, flags, device))
FORWARD(cuCtxDestroy_v2, hipCtxDestroy, (hipCtx_t context), (context))
FORWARD(cuCtxPushCurrent_v2, hipCtxPushCurrent, (hipCtx_t context), (context))
FORWARD(cuCtxPopCurrent_v2, hipCtxPopCurrent, (hipCtx_t * context), (context))
FORWARD(cuCtxSetCurrent, hipCtxSetCurrent, (hipCtx_t context), (context))
FORWARD(cuCtxGetCurrent, hipCtxGetCurrent, (hipCtx_t * context), (context))
FORWARD(cuCtxGetDevice, hipCtxGetDevice, (hipDevice_t * device), (device))
FORWARD(cuCtxGetFlags, hipCtxGetFlags, (unsigned* flags), (flags))
FORWARD(cuCtxSynchronize, hipCtxSynchronize, (), ())
FORWARD(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain,
        (hipCtx_t * context, hipDevice_t device), (context, device))
FORWARD(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, (hipDevice_t device), (device))
FORWARD(cuDevicePrimaryCtxReset_v2, hipDevicePrimaryCtxReset, (hipDevice_t device), (device))
FORWARD(cuDevicePrimaryCtxSetFlags_v2, hipDevicePrimaryCtxSetFlags,
        (hipDevice_t device, unsigned flags), (device, flags))
FORWARD(cuDevicePrimaryCtxGetState, hipDevicePrimaryCtxGetState,
        (hipDevice_t device, unsigned* flags, int* active), (device, flags, active))

// What further parameters ask for (affinity to parts of a GPU) is refused.
CUDA_API int cuCtxCreate_v3(hipCtx_t* made, void* parameters, int count, unsigned flags,
                            hipDevice_t device) {
  if (parameters != nullptr && count > 0) return unsupported("a context on a part of a GPU");
  return cuCtxCreate_v2(made, flags, device);
}

CUDA_API int cuCtxCreate_v4(hipCtx_t* made, void* parameters, unsigned flags, hipDevice_t device) {
  return cuCtxCreate_v3(made, parameters, 1, flags, device);
}

// Preferences: a device may ignore them.
CUDA_API int cuCtxSetCacheConfig(int) { return success; }
CUDA_API int cuCtxSetSharedMemConfig(int) { return success; }
CUDA_API int cuCtxSetLimit(int, std::size_t) { return success; }
