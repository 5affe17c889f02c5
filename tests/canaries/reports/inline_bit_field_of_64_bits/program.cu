// Bit fields of 64-bit words by inline PTX.
#include <cstdio>

__device__ unsigned long long field(unsigned long long word, unsigned start, unsigned length) {
  unsigned long long result;
  asm("bfe.u64 %0, %1, %2, %3;" : "=l"(result) : "l"(word), "r"(start), "r"(length));
  return result;
}

__device__ long long signed_field(long long word, unsigned start, unsigned length) {
  long long result;
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(result) : "l"(word), "r"(start), "r"(length));
  return result;
}

__device__ unsigned long long insert(unsigned long long part, unsigned long long word,
                                     unsigned start, unsigned length) {
  unsigned long long result;
  asm("bfi.b64 %0, %1, %2, %3, %4;"
      : "=l"(result) : "l"(part), "l"(word), "r"(start), "r"(length));
  return result;
}

__global__ void fields(const uint2* places, unsigned long long word, unsigned long long* result) {
  const uint2 place = places[threadIdx.x];
  result[3 * threadIdx.x] = field(word, place.x, place.y);
  result[3 * threadIdx.x + 1] = signed_field(word, place.x, place.y);
  result[3 * threadIdx.x + 2] = insert(0x5a5a5a5a5a5a5a5aull, word, place.x, place.y);
}

int main() {
  uint2* places;
  unsigned long long* result;
  cudaMallocManaged(&places, 6 * sizeof(uint2));
  cudaMallocManaged(&result, 18 * sizeof *result);
  const uint2 chosen[] = {{28, 8}, {0, 64}, {60, 8}, {64, 4}, {5, 0}, {31, 33}};
  for (int i = 0; i < 6; i++) places[i] = chosen[i];
  fields<<<1, 6>>>(places, 0x9abcdef012345678ull, result);
  cudaDeviceSynchronize();
  for (int i = 0; i < 6; i++)
    printf("%016llx %016llx %016llx\n", result[3 * i], result[3 * i + 1], result[3 * i + 2]);
}
