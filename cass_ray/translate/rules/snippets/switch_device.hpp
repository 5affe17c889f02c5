#ifndef CASS_SWITCH_DEVICE
#define CASS_SWITCH_DEVICE
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
}  // namespace cass
#endif
