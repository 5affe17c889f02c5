// Beyond a workgroup's LDS loads give 0, stores and atomics do nothing (ISA). Odd lanes go there.
#include <hip/hip_runtime.h>

#include "expect.hpp"

namespace {

constexpr unsigned threads = 64, words = 128;  // 512 bytes: a whole unit of LDS

struct Results {
  unsigned word, wide[4], pair, stored, old, small;
};

__global__ void use(Results* out, unsigned beyond) {
  extern __shared__ __attribute__((aligned(16))) unsigned own[];
  const unsigned id = threadIdx.x, at = id % 2 == 1 ? beyond + 4 * (id % 16) : id;
  own[id] = id + 1;
  own[id + threads] = 1000 + id;
  __syncthreads();
  Results found{};
  found.word = own[at];
  const auto wide = *reinterpret_cast<const uint4*>(own + at / 4 * 4);
  found.wide[0] = wide.x, found.wide[1] = wide.y, found.wide[2] = wide.z, found.wide[3] = wide.w;
  found.pair = own[at] + own[at + 1];  // one instruction, two addresses
  found.small = reinterpret_cast<const unsigned short*>(own)[2 * at];
  __syncthreads();
  found.old = atomicAdd(own + at, 5);
  __syncthreads();
  own[at] += 7;
  __syncthreads();
  found.stored = own[at];
  out[id] = found;
}

bool is_right(const Results& found, unsigned id) {
  const auto expected = [&](unsigned word, unsigned value) {
    return word == (id % 2 == 1 ? 0 : value);
  };
  bool right = expected(found.word, id + 1) && expected(found.pair, 2 * id + 3) &&
               expected(found.old, id + 1) && expected(found.stored, id + 13) &&
               expected(found.small, id + 1);
  for (unsigned k = 0; k < 4; ++k) right &= expected(found.wide[k], id / 4 * 4 + k + 1);
  return right;
}

}  // namespace

int main() {
  Results* out = nullptr;
  OK(hipMallocManaged(&out, threads * sizeof *out));
  // Behind the workgroup's own, behind all that hardware has, where AMD's gemm reads, below zero.
  for (const unsigned bytes : {words * 4, 0x10000U, 0x28000U, 0xF00000U, 0xFFFFFF00U}) {
    use<<<1, threads, words * 4>>>(out, bytes / 4);
    OK(hipDeviceSynchronize());
    for (unsigned id = 0; id < threads; ++id) EXPECT(is_right(out[id], id));
  }
  return report();
}
