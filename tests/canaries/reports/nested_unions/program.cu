// Unions within structs within unions, copied as a whole and read by other members.
#include <cstdio>

union Inner {
  int number;
  float real;
  signed char bytes[4];
};
struct Middle {
  Inner inner[2];
  short tail;
};
union Outer {
  Middle middle;
  unsigned words[3];
};

__global__ void work(unsigned* result, const Outer* in) {
  Outer a = in[threadIdx.x], b = {}, c;
  b.middle.inner[1] = a.middle.inner[0];
  b.middle.inner[0].real = 1.0f;
  c = b;
  c.middle.inner[1].bytes[2] = static_cast<signed char>(a.middle.tail);
  b.middle = c.middle;
  a.words[2] = static_cast<unsigned short>(b.middle.inner[1].bytes[2]);
  result[3 * threadIdx.x] = b.words[0] + c.middle.tail;
  result[3 * threadIdx.x + 1] = b.words[1];
  result[3 * threadIdx.x + 2] = a.words[2];
}

int main() {
  Outer* in;
  unsigned* result;
  cudaMallocManaged(&in, 2 * sizeof(Outer));
  cudaMallocManaged(&result, 6 * sizeof(unsigned));
  for (int i = 0; i < 2; i++) {
    in[i].words[0] = 0x11223344u * (i + 1);
    in[i].words[1] = 5;
    in[i].words[2] = 0;
    in[i].middle.tail = static_cast<short>(0x1f0 + i);
  }
  work<<<1, 2>>>(result, in);
  cudaDeviceSynchronize();
  for (int i = 0; i < 6; i++) printf("%08x\n", result[i]);
}
