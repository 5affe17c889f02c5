// Reads beside its memory in a kernel, prints how the launch ended; copies that end beside it never
// work.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void read(const int* from, int* to, int distance) { *to = from[distance]; }

int main() {
  constexpr int count = 1024;  // a page
  int *first, *second, *result;
  hipMalloc(&first, count * sizeof(int));
  hipMalloc(&second, count * sizeof(int));
  hipMalloc(&result, sizeof(int));
  hipMemset(second, 1, count * sizeof(int));
  read<<<1, 1>>>(first, result, count);  // the next page
  const bool beside = hipDeviceSynchronize() == hipSuccess;
  std::printf("beside: %s\n", beside ? "read" : "fault");
  if (!beside) return 0;
  int value = -1;
  static int host[count + 1];
  hipMemcpy(&value, result, sizeof value, hipMemcpyDeviceToHost);
  std::printf("value: %d\n", value);
  std::printf("copy: %s\n", hipMemcpy(host, first, sizeof host, hipMemcpyDeviceToHost) == hipSuccess
                                ? "done"
                                : "refused");
  read<<<1, 1>>>(first, result, 4 << 20);  // 16 MiB on
  std::printf("far: %s\n", hipDeviceSynchronize() == hipSuccess ? "read" : "fault");
}
