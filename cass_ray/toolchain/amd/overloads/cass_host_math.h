// Functions that CUDA's headers have on both sides (crt/math_functions.hpp) and HIP's on the device
// alone, for host code.
#pragma once

#include <cmath>

__host__ inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
__host__ inline float rsqrtf(float x) { return static_cast<float>(rsqrt(static_cast<double>(x))); }
__host__ inline bool isnan(float x) { return std::isnan(x); }
__host__ inline bool isnan(double x) { return std::isnan(x); }
__host__ inline bool isinf(float x) { return std::isinf(x); }
__host__ inline bool isinf(double x) { return std::isinf(x); }
__host__ inline bool isfinite(float x) { return std::isfinite(x); }
__host__ inline bool isfinite(double x) { return std::isfinite(x); }
