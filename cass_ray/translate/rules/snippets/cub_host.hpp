#ifndef CASS_CUB_HOST
#define CASS_CUB_HOST
namespace cass {
// CUB's: another device until the end of the scope.
class SwitchDevice {
public:
    explicit SwitchDevice(int device) {
        switched_ = hipGetDevice(&before_) == hipSuccess && before_ != device &&
                    hipSetDevice(device) == hipSuccess;
    }
    SwitchDevice(const SwitchDevice&) = delete;
    SwitchDevice& operator=(const SwitchDevice&) = delete;
    ~SwitchDevice() {
        if (switched_) (void)hipSetDevice(before_);
    }

private:
    int before_ = 0;
    bool switched_ = false;
};
// CUB's functions of the host on devices, which hipCUB lacks.
inline int CurrentDevice() {
    int device = -1;
    return hipGetDevice(&device) == hipSuccess ? device : -1;
}
inline int DeviceCount() {
    int count = -1;
    return hipGetDeviceCount(&count) == hipSuccess ? count : -1;
}
inline hipError_t SmVersion(int& version, int device = CurrentDevice()) {
    int major = 0, minor = 0;
    hipError_t error =
        hipDeviceGetAttribute(&major, hipDeviceAttributeComputeCapabilityMajor, device);
    if (error == hipSuccess)
        error = hipDeviceGetAttribute(&minor, hipDeviceAttributeComputeCapabilityMinor, device);
    if (error == hipSuccess) version = major * 100 + minor * 10;
    return error;
}
template <typename Kernel>
inline hipError_t MaxSmOccupancy(int& blocks, Kernel kernel, int threads, int dynamic = 0) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic);
}
}  // namespace cass
#endif
