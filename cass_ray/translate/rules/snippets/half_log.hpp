#ifndef CASS_HALF_LOG
#define CASS_HALF_LOG
#if defined(__HIP_PLATFORM_AMD__) && defined(__HIPCC__) && __has_include(<hip/hip_bf16.h>)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <type_traits>
// Eigen's half calls ::hlog, of which hip_bf16.h alone has one in the global namespace itself.
template <typename T>
__device__ inline typename std::enable_if<
    std::is_base_of<__half_raw, T>::value && !std::is_same<__half_raw, T>::value, __half>::type
hlog(const T& x) {
    return hlog(__half(static_cast<const __half_raw&>(x)));
}
#endif
#endif
