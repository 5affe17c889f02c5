// Kernels that go wrong, one for each argument. Prints what HIP says; `quiet` ignores it.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void store(int* where) { *where = 1; }
__global__ void stop() { abort(); }
__global__ void claim(int n) { assert(n > 0); }
__global__ void hang(volatile int* flag) {
  while (*flag == 0) {
  }
}

// What is deeper than any stack; the compiler cannot turn it into a loop.
__device__ __attribute__((noinline)) int deeper(volatile int* memory, int depth) {
  volatile int kept[64];
  kept[depth & 63] = memory[0] + depth;
  const int below = memory[1] == 1 ? 0 : deeper(memory, depth + 1);
  return below + kept[depth & 63];
}
__global__ void recurse(int* memory) { memory[2] = deeper(memory, 0); }
// Wave 1 waits for what wave 0 does behind the barrier.
__global__ void meet(volatile int* flag) {
  if (threadIdx.x < 32) {
    __syncthreads();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __syncthreads();
  }
}

int main(int, char** arguments) {
  const char* fault = arguments[1];
  int* memory = nullptr;
  if (hipMalloc(&memory, 4096) != hipSuccess) return 99;
  if (hipMemset(memory, 0, 4096) != hipSuccess) return 99;
  if (std::strcmp(fault, "wild") == 0) store<<<1, 1>>>(reinterpret_cast<int*>(0x10));
  if (std::strcmp(fault, "null") == 0) store<<<1, 1>>>(nullptr);
  if (std::strcmp(fault, "beyond") == 0) store<<<1, 1>>>(memory + 1024);
  if (std::strcmp(fault, "freed") == 0) {
    if (hipFree(memory) != hipSuccess) return 99;
    store<<<1, 1>>>(memory);
  }
  if (std::strcmp(fault, "abort") == 0) stop<<<1, 1>>>();
  if (std::strcmp(fault, "assert") == 0) claim<<<1, 1>>>(0);
  if (std::strcmp(fault, "hang") == 0) hang<<<1, 1>>>(memory);
  if (std::strcmp(fault, "deep") == 0) recurse<<<1, 1>>>(memory);
  if (std::strcmp(fault, "barrier") == 0) meet<<<1, 64>>>(memory);
  if (std::strcmp(fault, "blocks") == 0) store<<<1U << 31, 1>>>(memory);
  if (std::strcmp(fault, "quiet") == 0) {
    store<<<1, 1>>>(nullptr);
    return 0;
  }
  const auto error = hipDeviceSynchronize();
  std::printf("%s\n", hipGetErrorName(error));
  std::printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));  // it stays
  return error == hipSuccess ? 0 : 7;
}
