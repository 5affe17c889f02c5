#pragma once
#include <cuda_runtime.h>
#include <vector>
std::vector<int> evens(const std::vector<int>& in, cudaStream_t stream);
