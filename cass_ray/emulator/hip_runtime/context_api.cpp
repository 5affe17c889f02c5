// Entry points of contexts.
#include <hip/hip_runtime_api.h>

#include <atomic>
#include <vector>

#include "context.hpp"
#include "device.hpp"
#include "device_properties.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "thread_own.hpp"

using namespace cass::hip;

namespace {

struct Context {
  int device;
  std::atomic<unsigned> flags = 0;    // of a primary context, as they were set
  std::atomic<int> references = 0;    // to a primary context
};

hipCtx_t handle_of(Context* context) { return reinterpret_cast<hipCtx_t>(context); }
Context* context_of(hipCtx_t handle) { return reinterpret_cast<Context*>(handle); }

Context& primary(int device) {
  static const auto& all = *new std::vector<Context*>([] {
    std::vector<Context*> made;
    for (int each = 0; each < Device::count(); ++each) made.push_back(new Context{each});
    return made;
  }());
  return *all[static_cast<std::size_t>(device)];
}

bool is_primary(const Context* context) { return context == &primary(context->device); }

// The calling thread's; the topmost one says which device is current.
std::vector<Context*>& stack() {
  return thread_own([] { return std::vector<Context*>{&primary(Device::current().ordinal)}; });
}

void follow_stack() {
  if (!stack().empty()) Device::make_current(stack().back()->device);
}

}  // namespace

void cass::hip::use_primary_context(int device) {
  if (!stack().empty()) stack().pop_back();
  stack().push_back(&primary(device));
  follow_stack();
}

hipError_t hipCtxCreate(hipCtx_t* context, unsigned flags, hipDevice_t device) {
  if (context == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  auto* made = new Context{device, flags};
  *context = handle_of(made);
  stack().push_back(made);
  follow_stack();
  return hipSuccess;
}

hipError_t hipCtxDestroy(hipCtx_t handle) {
  auto* context = context_of(handle);
  if (context == nullptr || is_primary(context)) return record(hipErrorInvalidValue);
  std::erase(stack(), context);
  follow_stack();
  delete context;
  return hipSuccess;
}

hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  if (stack().empty()) return record(hipErrorInvalidContext);
  if (context != nullptr) *context = handle_of(stack().back());
  stack().pop_back();
  follow_stack();
  return hipSuccess;
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
  if (context == nullptr) return record(hipErrorInvalidContext);
  stack().push_back(context_of(context));
  follow_stack();
  return hipSuccess;
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context_of(context));
  follow_stack();
  return hipSuccess;
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  if (context == nullptr) return record(hipErrorInvalidValue);
  *context = stack().empty() ? nullptr : handle_of(stack().back());
  return hipSuccess;
}

hipError_t hipCtxGetDevice(hipDevice_t* device) {
  if (device == nullptr) return record(hipErrorInvalidValue);
  *device = Device::current().ordinal;
  return hipSuccess;
}

hipError_t hipCtxGetApiVersion(hipCtx_t, int* version) {
  if (version == nullptr) return record(hipErrorInvalidValue);
  *version = 4;  // what AMD's runtime answers
  return hipSuccess;
}

hipError_t hipCtxGetFlags(unsigned* flags) {
  if (flags == nullptr) return record(hipErrorInvalidValue);
  *flags = Device::current().flags;
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

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags) {
  if (peer == nullptr) return record(hipErrorInvalidContext);
  return hipDeviceEnablePeerAccess(context_of(peer)->device, flags);
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  if (peer == nullptr) return record(hipErrorInvalidContext);
  return hipDeviceDisablePeerAccess(context_of(peer)->device);
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned* flags, int* active) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  if (flags != nullptr) *flags = primary(device).flags;
  if (active != nullptr) *active = primary(device).references > 0 ? 1 : 0;
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  if (context == nullptr) return record(hipErrorInvalidValue);
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  ++primary(device).references;
  *context = handle_of(&primary(device));
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  auto& references = primary(device).references;
  if (references > 0) --references;
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  const auto result = Device::at(device).reset();
  Memory::instance().release_all(device);
  return record(result);
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags) {
  if (const auto error = check_device(device); error != hipSuccess) return record(error);
  primary(device).flags = flags;
  return hipSuccess;
}
