#pragma once
extern __device__ int calls;
__device__ int step(int value);
