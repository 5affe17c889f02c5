// Contexts of the driver-style API: all of them are the device's one context.
#include <hip/hip_runtime_api.h>

#include <atomic>
#include <vector>

#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"

using namespace cass::hip;

namespace {

// Handles only need to differ from null and from each other.
struct Context {
  unsigned flags = 0;
};

Context primary;
std::atomic<unsigned> primary_flags = 0;
std::atomic<int> primary_references = 0;

hipCtx_t handle_of(Context* context) { return reinterpret_cast<hipCtx_t>(context); }

std::vector<hipCtx_t>& stack() {
  thread_local std::vector<hipCtx_t> contexts{handle_of(&primary)};
  return contexts;
}

}  // namespace

hipError_t hipCtxCreate(hipCtx_t* context, unsigned flags, hipDevice_t device) {
  if (context == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  *context = handle_of(new Context{flags});
  stack().push_back(*context);
  return hipSuccess;
}

hipError_t hipCtxDestroy(hipCtx_t context) {
  if (context == nullptr || context == handle_of(&primary)) return record(hipErrorInvalidValue);
  std::erase(stack(), context);
  delete reinterpret_cast<Context*>(context);
  return hipSuccess;
}

hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  if (stack().empty()) return record(hipErrorInvalidContext);
  if (context != nullptr) *context = stack().back();
  stack().pop_back();
  return hipSuccess;
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
  if (context == nullptr) return record(hipErrorInvalidContext);
  stack().push_back(context);
  return hipSuccess;
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context);
  return hipSuccess;
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  if (context == nullptr) return record(hipErrorInvalidValue);
  *context = stack().empty() ? nullptr : stack().back();
  return hipSuccess;
}

hipError_t hipCtxGetDevice(hipDevice_t* device) {
  if (device == nullptr) return record(hipErrorInvalidValue);
  *device = 0;
  return hipSuccess;
}

hipError_t hipCtxGetApiVersion(hipCtx_t, int* version) {
  if (version == nullptr) return record(hipErrorInvalidValue);
  *version = 4;  // what AMD's runtime answers
  return hipSuccess;
}

hipError_t hipCtxGetFlags(unsigned* flags) {
  if (flags == nullptr) return record(hipErrorInvalidValue);
  *flags = Device::instance().flags;
  return hipSuccess;
}

hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) { return hipDeviceSetCacheConfig(config); }
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* config) { return hipDeviceGetCacheConfig(config); }

hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) {
  return hipDeviceSetSharedMemConfig(config);
}

hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) {
  return hipDeviceGetSharedMemConfig(config);
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t, unsigned) { return record(hipErrorInvalidDevice); }

hipError_t hipCtxDisablePeerAccess(hipCtx_t) { return record(hipErrorPeerAccessNotEnabled); }

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned* flags, int* active) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (flags != nullptr) *flags = primary_flags;
  if (active != nullptr) *active = primary_references > 0 ? 1 : 0;
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  if (context == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  ++primary_references;
  *context = handle_of(&primary);
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (primary_references > 0) --primary_references;
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  return hipDeviceReset();
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  primary_flags = flags;
  return hipSuccess;
}
