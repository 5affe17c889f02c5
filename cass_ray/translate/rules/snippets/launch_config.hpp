#ifndef CASS_LAUNCH_CONFIG
#define CASS_LAUNCH_CONFIG
#include <utility>
// A launch with attributes. None overlaps with what is before it in its stream, which CUDA allows
// an implementation of programmatic serialization: then waiting for that and triggering what
// comes next do nothing. Priority and carve-out are hints.
namespace cass {
constexpr hipLaunchAttributeID launch_attribute_ignore = static_cast<hipLaunchAttributeID>(0);
constexpr hipLaunchAttributeID launch_attribute_serialization = static_cast<hipLaunchAttributeID>(6);
constexpr hipLaunchAttributeID launch_attribute_carveout = static_cast<hipLaunchAttributeID>(14);
union LaunchAttributeValue {
    int cooperative;
    int priority;
    int programmaticStreamSerializationAllowed;
    unsigned int sharedMemCarveout;
};
struct LaunchAttribute {
    hipLaunchAttributeID id;
    LaunchAttributeValue val;
};
struct LaunchConfig {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    hipStream_t stream;
    LaunchAttribute* attrs;
    unsigned int numAttrs;
};
inline hipError_t launch_kernel_exc(const LaunchConfig* config, const void* function, void** arguments) {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) return hipErrorInvalidValue;
    bool cooperative = false;
    for (unsigned int index = 0; index < config->numAttrs; ++index) {
        const LaunchAttribute& attribute = config->attrs[index];
        switch (static_cast<int>(attribute.id)) {
            case hipLaunchAttributeCooperative: cooperative = attribute.val.cooperative != 0; break;
            case 0: case 6: case 14: case hipLaunchAttributePriority: break;
            default: return hipErrorNotSupported;
        }
    }
    const unsigned int shared = static_cast<unsigned int>(config->dynamicSmemBytes);
    return cooperative ? hipLaunchCooperativeKernel(function, config->gridDim, config->blockDim, arguments,
                                                    shared, config->stream)
                       : hipLaunchKernel(function, config->gridDim, config->blockDim, arguments, shared,
                                         config->stream);
}
template <typename... Expected, typename... Actual>
inline hipError_t launch_kernel_ex(const LaunchConfig* config, void (*kernel)(Expected...), Actual&&... actual) {
    return [&](Expected... coerced) {
        void* arguments[] = {const_cast<void*>(static_cast<const volatile void*>(&coerced))..., nullptr};
        return launch_kernel_exc(config, reinterpret_cast<const void*>(kernel), arguments);
    }(std::forward<Actual>(actual)...);
}
__device__ inline void grid_dependency_synchronize() {}
__device__ inline void trigger_launch_completion() {}
}  // namespace cass
#endif
