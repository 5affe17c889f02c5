// Eigen's half (Eigen/src/Core/arch/Default/Half.h) is derived from HIP's __half_raw and calls
// ::hlog of itself. Where hip_bf16.h is included too, its hlog is taken, to which half does not
// convert. This overload fits better than both and does what hip_fp16.h's does.
#ifndef CASS_HALF_LOG
#define CASS_HALF_LOG

#include <hip/hip_fp16.h>

#include <type_traits>

template <class T>
__device__ inline typename std::enable_if<
    std::is_base_of<__half_raw, T>::value && !std::is_same<__half_raw, T>::value, __half>::type
hlog(const T& x) {
  return hlog(__half(static_cast<const __half_raw&>(x)));
}

#endif
