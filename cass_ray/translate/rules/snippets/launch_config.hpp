#ifndef CASS_LAUNCH_CONFIG
#define CASS_LAUNCH_CONFIG
#include <tuple>
#include <utility>
// Launches by a configuration. A kernel that may begin before the one ahead of it in the stream ends begins behind
// it here. What HIP's launches do not have (clusters, events of launches) is refused by name.
namespace cass {
#ifdef __HIP_PLATFORM_NVIDIA__
using launch_config = cudaLaunchConfig_t;
using launch_attribute = cudaLaunchAttribute;
using launch_attribute_id = cudaLaunchAttributeID;
using launch_attribute_value = cudaLaunchAttributeValue;
constexpr auto launch_attribute_access_policy_window = cudaLaunchAttributeAccessPolicyWindow;
constexpr auto launch_attribute_priority = cudaLaunchAttributePriority;
constexpr auto launch_attribute_ignore = cudaLaunchAttributeIgnore;
constexpr auto launch_attribute_synchronization_policy = cudaLaunchAttributeSynchronizationPolicy;
constexpr auto launch_attribute_cluster_scheduling_policy = cudaLaunchAttributeClusterSchedulingPolicyPreference;
constexpr auto launch_attribute_programmatic_serialization = cudaLaunchAttributeProgrammaticStreamSerialization;
constexpr auto launch_attribute_memory_domain_map = cudaLaunchAttributeMemSyncDomainMap;
constexpr auto launch_attribute_memory_domain = cudaLaunchAttributeMemSyncDomain;
constexpr auto launch_attribute_carveout = cudaLaunchAttributePreferredSharedMemoryCarveout;
inline hipError_t launch_kernel_exc(const launch_config* config, const void* kernel, void** arguments) {
    return hipCUDAErrorTohipError(cudaLaunchKernelExC(config, kernel, arguments));
}
inline hipError_t stream_set_attribute(hipStream_t stream, launch_attribute_id id, const launch_attribute_value* value) {
    return hipCUDAErrorTohipError(cudaStreamSetAttribute(stream, id, value));
}
inline hipError_t reset_persisting_cache() { return hipCUDAErrorTohipError(cudaCtxResetPersistingL2Cache()); }
#else
enum launch_attribute_id {
    launch_attribute_ignore = 0,
    launch_attribute_access_policy_window = 1,
    launch_attribute_cooperative = 2,
    launch_attribute_synchronization_policy = 3,
    launch_attribute_cluster_scheduling_policy = 5,
    launch_attribute_programmatic_serialization = 6,
    launch_attribute_priority = 8,
    launch_attribute_memory_domain_map = 9,
    launch_attribute_memory_domain = 10,
    launch_attribute_carveout = 14
};
union launch_attribute_value {
    char pad[64];
    hipAccessPolicyWindow accessPolicyWindow;
    int cooperative;
    int clusterSchedulingPolicyPreference;
    int programmaticStreamSerializationAllowed;
    int priority;
    unsigned int sharedMemCarveout;
};
struct launch_attribute {
    // From the enumerators of either enumeration.
    struct identifier {
        int number = 0;
        identifier() = default;
        identifier(launch_attribute_id id) : number(id) {}
        identifier(hipLaunchAttributeID id) : number(id) {}
        operator int() const { return number; }
    } id;
    launch_attribute_value val;
    launch_attribute() : id(), val() {}
};
struct launch_config {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes = 0;
    hipStream_t stream = nullptr;
    launch_attribute* attrs = nullptr;
    unsigned int numAttrs = 0;
};
inline hipError_t launch_kernel_exc(const launch_config* config, const void* kernel, void** arguments) {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) return hipErrorInvalidValue;
    bool cooperative = false;
    for (unsigned int i = 0; i < config->numAttrs; ++i) {
        const launch_attribute& each = config->attrs[i];
        switch (int(each.id)) {
            case launch_attribute_cooperative: cooperative = each.val.cooperative != 0; break;
            // Hints, and what allows more overlap than there is.
            case launch_attribute_ignore:
            case launch_attribute_access_policy_window:
            case launch_attribute_synchronization_policy:
            case launch_attribute_cluster_scheduling_policy:
            case launch_attribute_programmatic_serialization:
            case launch_attribute_priority:
            case launch_attribute_memory_domain_map:
            case launch_attribute_memory_domain:
            case launch_attribute_carveout: break;
            default: return hipErrorNotSupported;
        }
    }
    if (cooperative)
        return hipLaunchCooperativeKernel(kernel, config->gridDim, config->blockDim, arguments,
                                          static_cast<unsigned int>(config->dynamicSmemBytes), config->stream);
    return hipLaunchKernel(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream);
}
// What a stream's launches are told beforehand: hints alone, which HIP has nowhere to put.
inline hipError_t stream_set_attribute(hipStream_t stream, launch_attribute::identifier id, const void* value) {
    if (value == nullptr) return hipErrorInvalidValue;
    switch (int(id)) {
        case launch_attribute_access_policy_window:
        case launch_attribute_synchronization_policy:
        case launch_attribute_priority:
        case launch_attribute_memory_domain_map:
        case launch_attribute_memory_domain: {
            unsigned int flags = 0;
            return hipStreamGetFlags(stream, &flags);  // an error for what is no stream
        }
        default: return hipErrorInvalidValue;
    }
}
inline hipError_t reset_persisting_cache() { return hipSuccess; }
#endif
template <typename... Parameters, std::size_t... I>
hipError_t launch_with(const launch_config* config, void (*kernel)(Parameters...), std::tuple<Parameters...>& values,
                       std::index_sequence<I...>) {
    void* arguments[] = {const_cast<void*>(static_cast<const void*>(&std::get<I>(values)))..., nullptr};
    return launch_kernel_exc(config, reinterpret_cast<const void*>(kernel), arguments);
}
template <typename... Parameters, typename... Arguments>
hipError_t launch_kernel_ex(const launch_config* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
    std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
    return launch_with(config, kernel, values, std::index_sequence_for<Parameters...>());
}
#if defined(__HIP_PLATFORM_NVIDIA__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline void grid_dependency_synchronize() { cudaGridDependencySynchronize(); }
__device__ inline void trigger_launch_completion() { cudaTriggerProgrammaticLaunchCompletion(); }
#else
__device__ inline void grid_dependency_synchronize() {}
__device__ inline void trigger_launch_completion() {}
#endif
}  // namespace cass
#endif
