#ifndef CASS_ATTRIBUTE
#define CASS_ATTRIBUTE
// Translated kernels have warps of 32 lanes on every device.
namespace cass {
inline hipError_t device_attribute(int* value, hipDeviceAttribute_t attribute, int device) {
    const hipError_t status = hipDeviceGetAttribute(value, attribute, device);
    if (status == hipSuccess && attribute == hipDeviceAttributeWarpSize) *value = 32;
    return status;
}
}  // namespace cass
#endif
