#ifndef CASS_SPACE
#define CASS_SPACE
// Address spaces of pointers.
namespace cass {
__device__ inline unsigned int is_shared(const void* pointer) {
#if defined(__HIP_PLATFORM_NVIDIA__)
    return __isShared(pointer);
#elif defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_is_shared(
        (const __attribute__((address_space(0))) void*)pointer);
#else
    return pointer == nullptr;
#endif
}
__device__ inline unsigned int is_local(const void* pointer) {
#if defined(__HIP_PLATFORM_NVIDIA__)
    return __isLocal(pointer);
#elif defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_is_private(
        (const __attribute__((address_space(0))) void*)pointer);
#else
    return pointer == nullptr;
#endif
}
__device__ inline unsigned int is_global(const void* pointer) {
    return !is_shared(pointer) && !is_local(pointer);
}
__device__ inline unsigned int is_constant(const void* pointer) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __isConstant(pointer);
#else
    static_cast<void>(pointer);
    return 0;
#endif
}
// The offset of a shared variable in the group segment, as CUDA's shared addresses are.
__device__ inline size_t shared_address(const void* pointer) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __cvta_generic_to_shared(pointer);
#else
    return static_cast<unsigned int>(reinterpret_cast<unsigned long long>(pointer));
#endif
}
__device__ inline void* from_shared_address(size_t address) {
#if defined(__HIP_PLATFORM_NVIDIA__)
    return __cvta_shared_to_generic(address);
#elif defined(__HIP_DEVICE_COMPILE__)
    return (void*)(__attribute__((address_space(3))) void*)static_cast<unsigned int>(address);
#else
    return reinterpret_cast<void*>(address);
#endif
}
__device__ inline size_t address(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
__device__ inline void* from_address(size_t address) { return reinterpret_cast<void*>(address); }
}  // namespace cass
#endif
