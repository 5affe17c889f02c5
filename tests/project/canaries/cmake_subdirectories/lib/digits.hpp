#pragma once
#include <cuda_runtime_api.h>
#include <string>
#include <vector>
std::vector<int> digit_sums(int n);
std::string device_error(cudaError_t error);
