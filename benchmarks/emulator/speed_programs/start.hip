// `start N`: N small kernels (0 or 1): what starting the backend costs. `decode`: seconds of the
// first and the second launch of a kernel of LENGTH instructions.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void small(int* value) { *value = 1; }

template <int count>
__global__ void lengthy(int* value) {
  int sum = *value;
  asm volatile(".rept %c1\n v_add_nc_u32 %0, 1, %0\n v_xor_b32 %0, 3, %0\n .endr"
               : "+v"(sum)
               : "n"(count / 2));
  *value = sum;
}

template <class Run>
double seconds(Run run) {
  const auto started = std::chrono::steady_clock::now();
  run();
  if (hipDeviceSynchronize() != hipSuccess) std::abort();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

int main(int, char** arguments) {
  if (std::strcmp(arguments[1], "decode") == 0) {
    int* value = nullptr;
    if (hipMallocManaged(&value, sizeof *value) != hipSuccess) return 1;
    const auto lengthy_run = [&] { lengthy<LENGTH><<<1, 32>>>(value); };
    const double first = seconds(lengthy_run);
    std::printf("%.9f %.9f\n", first, seconds(lengthy_run));
    return 0;
  }
  if (std::atoi(arguments[2]) == 0) return 0;
  int* value = nullptr;
  if (hipMallocManaged(&value, sizeof *value) != hipSuccess) return 1;
  small<<<1, 32>>>(value);
  return hipDeviceSynchronize() == hipSuccess && *value == 1 ? 0 : 1;
}
