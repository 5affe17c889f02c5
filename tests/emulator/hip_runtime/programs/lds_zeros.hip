// Loads from where no LDS is give 0: AMD's gemm clears its accumulators by them.
#include <hip/hip_runtime.h>

#include "expect.hpp"

namespace {

__global__ void load(unsigned* out) {
  __shared__ unsigned own[64];
  own[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  const unsigned far = 0xF00000;
  unsigned found = 7;
  asm volatile("ds_read_b32 %0, %1 offset:512\n s_waitcnt lgkmcnt(0)" : "=v"(found) : "v"(far));
  out[threadIdx.x] = found + own[63 - threadIdx.x];
}

}  // namespace

int main() {
  unsigned* out = nullptr;
  OK(hipMallocManaged(&out, 64 * sizeof *out));
  load<<<1, 64>>>(out);
  OK(hipDeviceSynchronize());
  for (unsigned i = 0; i < 64; ++i) EXPECT(out[i] == 64 - i);
  return report();
}
