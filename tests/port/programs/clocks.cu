// Waits of more cycles than RDNA3's own counter has before it begins again (2^20).
#include "expect.h"

constexpr int cycles = 3 << 20;

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void wait(long long* out) {
  const long long first = clock64();
  const unsigned long long begun = nanoseconds();
  while (clock64() - first < cycles) {
  }
  const unsigned long long ended = nanoseconds();
  out[0] = clock64() - first;
  out[1] = static_cast<long long>(ended - begun);
  const clock_t short_first = clock();  // 32 bits of it
  while (static_cast<unsigned>(clock()) - static_cast<unsigned>(short_first) < cycles) {
  }
  out[2] = clock64() - first;
}

int main() {
  long long *out, found[3];
  GOOD(cudaMalloc(&out, sizeof found));
  wait<<<1, 32>>>(out);
  GOOD(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  EXPECT(found[0] >= cycles);
  EXPECT(found[1] > 0);
  EXPECT(found[0] * 10 >= found[1] * 24);  // 2.4 GHz; the cycles began before the time, and ended after it
  EXPECT(found[2] >= 2 * cycles);
  return failures;
}
