// Results that CUDA 13 took away from cuFFT, with the values that they had ("cuFFT API Reference"
// of CUDA 12, cufftResult): no function returns them any more, and programs still name them.
#pragma once
#include <cufft.h>

constexpr cufftResult CUFFT_INCOMPLETE_PARAMETER_LIST = static_cast<cufftResult>(0xA);
constexpr cufftResult CUFFT_PARSE_ERROR = static_cast<cufftResult>(0xC);
constexpr cufftResult CUFFT_LICENSE_ERROR = static_cast<cufftResult>(0xF);
