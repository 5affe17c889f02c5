// What CUDA 13 took away from the runtime's interface, by what its release notes say to call in its
// place: members of cudaDeviceProp are attributes, and cudaMemPrefetchAsync and cudaMemAdvise take
// a location where they took a device ("CUDA 13.0 Release Notes", deprecated and dropped features).
#pragma once

struct cass_cudaDeviceProp : cudaDeviceProp {
  int clockRate;
  int deviceOverlap;
  int kernelExecTimeoutEnabled;
  int computeMode;
  int maxTexture1DLinear;
  int memoryClockRate;
  int singleToDoublePrecisionPerfRatio;
  int cooperativeMultiDeviceLaunch;  // no attribute is left: the function to launch so is gone too
};

static inline cudaError_t cudaGetDeviceProperties(cass_cudaDeviceProp* properties, int device) {
  cudaError_t error = ::cudaGetDeviceProperties(static_cast<cudaDeviceProp*>(properties), device);
  const auto ask = [&](int* value, cudaDeviceAttr attribute) {
    if (error == cudaSuccess) error = ::cudaDeviceGetAttribute(value, attribute, device);
  };
  ask(&properties->clockRate, cudaDevAttrClockRate);
  ask(&properties->deviceOverlap, cudaDevAttrGpuOverlap);
  ask(&properties->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout);
  ask(&properties->computeMode, cudaDevAttrComputeMode);
  ask(&properties->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth);
  ask(&properties->memoryClockRate, cudaDevAttrMemoryClockRate);
  ask(&properties->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio);
  properties->cooperativeMultiDeviceLaunch = 0;
  return error;
}
#define cudaDeviceProp cass_cudaDeviceProp

static inline cudaMemLocation cass_location(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
static inline cudaError_t cudaMemPrefetchAsync(const void* memory, size_t size, int device,
                                               cudaStream_t stream = nullptr) {
  return ::cudaMemPrefetchAsync(memory, size, cass_location(device), 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void* memory, size_t size, cudaMemoryAdvise advice,
                                        int device) {
  return ::cudaMemAdvise(memory, size, advice, cass_location(device));
}
