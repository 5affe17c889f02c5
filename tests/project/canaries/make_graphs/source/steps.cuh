#pragma once
#include <cuda_runtime.h>
extern __device__ int calls;
__device__ int twice(int value);
