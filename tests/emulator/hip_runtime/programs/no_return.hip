// A kernel that ends in the call of a function that does not return, and stands last in the code.
#include <hip/hip_runtime.h>

#include <cstdio>

__device__ int seen;

[[noreturn]] __device__ __attribute__((noinline)) void stop(int value) {
  seen = value;
  __builtin_trap();
}

__global__ void square(int* value) {
  if (*value < 0) stop(*value);
  *value *= *value;
}

int main() {
  int *value, host = 7;
  hipMalloc(&value, sizeof(int));
  hipMemcpy(value, &host, sizeof(int), hipMemcpyHostToDevice);
  square<<<1, 1>>>(value);
  hipMemcpy(&host, value, sizeof(int), hipMemcpyDeviceToHost);
  std::printf("%d\n", host);
}
