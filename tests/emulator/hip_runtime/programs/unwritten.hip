// Copies device memory that nobody wrote to the host: first, middle and last byte of an odd size.
#include <hip/hip_runtime.h>

#include <cstdio>

int main() {
  unsigned char *memory, host[13];
  if (hipMalloc(&memory, sizeof host) != hipSuccess) return 1;
  if (hipMemcpy(host, memory, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("%02x %02x %02x\n", host[0], host[6], host[12]);
}
