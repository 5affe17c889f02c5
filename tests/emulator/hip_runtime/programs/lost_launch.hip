// Launches a kernel and does not look whether it ran; with an argument, asks for the last error.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void nothing() {}

int main(int count, char**) {
  nothing<<<1, 1>>>();
  if (count > 1) std::puts(hipGetErrorName(hipGetLastError()));
  return 0;
}
