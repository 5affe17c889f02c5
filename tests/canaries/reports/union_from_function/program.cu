// Unions of several sizes go through functions that are inlined or not.
#include <cstdio>

union Word {
  unsigned whole;
  unsigned short half[2];
  unsigned char byte[4];
};
union Wide {
  unsigned long long whole;
  Word words[2];
  struct {
    signed char small;
    short other;
  } parts;
};

__device__ __noinline__ Word pack(unsigned a, unsigned b) {
  Word word;
  word.half[0] = a;
  word.half[1] = b;
  return word;
}
__device__ Word turned(Word in) {
  Word out;
  for (int i = 0; i < 4; i++) out.byte[i] = in.byte[3 - i];
  return out;
}
__device__ __noinline__ Wide pair(Word low, Word high) {
  Wide wide;
  wide.words[0] = turned(low);
  wide.words[1] = high;
  wide.parts.small -= 1;
  return wide;
}

__global__ void work(unsigned long long* result, unsigned a) {
  const Wide wide = pair(pack(a + threadIdx.x, a * 3), turned(pack(7, threadIdx.x)));
  Wide copy;
  copy = wide;
  copy.parts.other = copy.words[1].half[1];
  result[2 * threadIdx.x] = wide.whole;
  result[2 * threadIdx.x + 1] = copy.whole;
}

int main() {
  unsigned long long* result;
  cudaMallocManaged(&result, 8 * sizeof *result);
  work<<<1, 4>>>(result, 0x1234);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; i++) printf("%016llx\n", result[i]);
}
