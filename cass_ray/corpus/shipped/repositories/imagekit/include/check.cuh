// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

namespace imagekit {

inline void checkCall(cudaError_t error, const char* call, const char* file, int line)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    std::exit(2);
}

inline int report(bool ok)
{
    std::printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}

}  // namespace imagekit

#define IMAGEKIT_CHECK(call) ::imagekit::checkCall((call), #call, __FILE__, __LINE__)
