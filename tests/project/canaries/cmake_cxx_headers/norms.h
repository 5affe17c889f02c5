#pragma once
#include <cuda_runtime.h>
#include <string>
cudaError_t norms(const float3* points, int n, float* lengths);
inline std::string name(cudaError_t error) { return cudaGetErrorName(error); }
