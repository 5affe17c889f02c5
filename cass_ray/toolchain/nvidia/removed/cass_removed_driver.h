// What CUDA 13 took away from the driver's interface: calls without the parameters that it added
// ("CUDA 13.0 Release Notes"). Null asks for a context without them, a location is a device.
#pragma once
#include <cuda.h>

static inline CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device) {
  return ::cuCtxCreate(context, nullptr, flags, device);
}
static inline CUmemLocation cass_cu_location(CUdevice device) {
  CUmemLocation location = {};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}
static inline CUresult cuMemPrefetchAsync(CUdeviceptr memory, size_t size, CUdevice device,
                                          CUstream stream) {
  return ::cuMemPrefetchAsync(memory, size, cass_cu_location(device), 0u, stream);
}
static inline CUresult cuMemAdvise(CUdeviceptr memory, size_t size, CUmem_advise advice,
                                   CUdevice device) {
  return ::cuMemAdvise(memory, size, advice, cass_cu_location(device));
}
