// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define GRID_CHECK(call)                                                                            \
    do {                                                                                            \
        const cudaError_t gridStatus = (call);                                                      \
        if (gridStatus != cudaSuccess) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(gridStatus));     \
            exit(2);                                                                                \
        }                                                                                           \
    } while (0)
