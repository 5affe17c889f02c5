#include <cuda_runtime.h>
#include <string>
int count(const std::string& text, const std::string& part, cudaStream_t stream);
