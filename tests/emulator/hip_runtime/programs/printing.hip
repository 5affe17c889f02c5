// Prints each line on the device, then the same on the host: both halves have to be equal.
#include <hip/hip_runtime.h>

#include <cstdio>

#define LINES                                                                                  \
  printf("plain text, 100%%\n");                                                               \
  printf("%d|%5d|%-5d|%05d|%+d\n", -42, 42, 42, 42, 42);                                       \
  printf("%u|%x|%X|%#x|%o|%c\n", 4000000000u, 255, 255, 255, 8, 'z');                          \
  printf("%ld|%lld|%llu|%hhd\n", -1L, 1LL << 40, ~0ULL, 300);                                  \
  printf("%f|%.3f|%10.2f|%-10.1f|%e|%g|%a\n", 1.5, 3.14159, 2.5, 2.5, 12345.678, 0.0001, 1.0); \
  printf("%s|%10s|%-10s|%.2s|\n", "text", "right", "left", "cut");                             \
  printf("%*d|%.*f|%-*d|\n", 6, 42, 2, 2.71828, 4, 7);                                         \
  printf("%d %s %f %d %s %f %d\n", 1, "two", 3.0, 4, "five", 6.0, 7);

__global__ void print(){LINES}

__global__ void many(int count) {
  if (threadIdx.x < count) printf("thread %u\n", threadIdx.x);
}

int main(int argc, char**) {
  if (argc > 1) {
    many<<<2, 64>>>(40);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
  }
  print<<<1, 1>>>();
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  LINES
  return 0;
}
