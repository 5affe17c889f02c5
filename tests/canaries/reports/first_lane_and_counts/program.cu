// Bit counts of words of both widths, of signed and unsigned arguments, and of zero.
#include <cstdio>

template <typename T>
__device__ int leading(T value) {
  return sizeof(T) == 4 ? __clz(static_cast<int>(value)) : __clzll(value);
}

__global__ void work(const unsigned long long* in, int* out) {
  const unsigned long long x = in[threadIdx.x];
  const unsigned long same = x;
  const unsigned low = static_cast<unsigned>(x);
  int* own = out + 8 * threadIdx.x;
  own[0] = __clzll(x) + leading(same), own[1] = leading(low), own[2] = __ffsll(x), own[3] = __ffs(low);
  own[4] = __popcll(x), own[5] = __popc(low), own[6] = __brevll(x) >> 56, own[7] = __brev(low) >> 24;
}

int main() {
  unsigned long long* in;
  int* out;
  cudaMallocManaged(&in, 4 * sizeof *in);
  cudaMallocManaged(&out, 32 * sizeof(int));
  in[0] = 0, in[1] = 1ull << 40, in[2] = ~0ull, in[3] = 0x00f0000080000016ull;
  work<<<1, 4>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; i++) printf("%d%c", out[i], i % 8 == 7 ? '\n' : ' ');
}
