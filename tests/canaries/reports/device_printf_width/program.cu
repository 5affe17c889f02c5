// Widths, precisions, flags and many types in the formats of a kernel's printf.
#include <cstdio>

__global__ void print() {
  printf("device\n");
  printf("  %10s %i\n", "123", 1);
  printf("  %10s %i\n", "12345678", 2);
  printf("  %-10s|%5d|%-5d|%05d\n", "abc", 42, 42, 42);
  printf("%.3s %5.1f %e %g %x %X %o %c %%\n", "abcdef", 2.25, 1024.0, 0.5, 255u, 255u, 8u, 'z');
  printf("%lld %llu %ld %hhd %+d % d %#x\n", -5000000000ll, 18446744073709551615ull, -7l,
         static_cast<signed char>(-3), 5, 6, 255u);
  printf("%s%s%s\n", "a", "", "c");
}

int main() {
  printf("host\n");
  fflush(stdout);
  print<<<1, 1>>>();
  cudaDeviceSynchronize();
}
