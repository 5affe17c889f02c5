#include <cuda_runtime.h>
void check(cudaError_t error);
int add(int value);
int multiply(int value);
