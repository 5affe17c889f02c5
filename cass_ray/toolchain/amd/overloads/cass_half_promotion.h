// clang's HIP headers ask of each argument of pow, fma … which number it is. HIP's half converts to
// several, and asking is an error. It is none, as for nvcc: conversions to float decide.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

namespace __hip {
template <>
struct __numeric_type<__half> {
  typedef void type;
  static const bool value = false;
};
template <>
struct __numeric_type<__hip_bfloat16> {
  typedef void type;
  static const bool value = false;
};
}  // namespace __hip
