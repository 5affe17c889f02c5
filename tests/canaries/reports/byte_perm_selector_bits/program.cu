// Each nibble's low three bits choose one of eight bytes; bits from 16 on are ignored.
#include <cstdio>

__global__ void reverse(unsigned long long* values) {
  const unsigned long long value = values[threadIdx.x];
  const unsigned low = static_cast<unsigned>(value), high = static_cast<unsigned>(value >> 32);
  const unsigned swapped_low = __byte_perm(low, high, 0x4567);
  const unsigned swapped_high = __byte_perm(low, high, 0xabcd0123u);
  values[threadIdx.x] = (static_cast<unsigned long long>(swapped_high) << 32) | swapped_low;
}

int main() {
  unsigned long long* values;
  cudaMallocManaged(&values, 2 * sizeof *values);
  values[0] = 0x0123456789abcdefull;
  values[1] = 0xfedcba9876543210ull;
  reverse<<<1, 2>>>(values);
  cudaDeviceSynchronize();
  printf("%016llx %016llx\n", values[0], values[1]);
}
