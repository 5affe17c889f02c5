// Four limbs of 32 bits: addition, subtraction and product with carries.
#include <cstdio>

struct Number {
  unsigned limbs[4];
};

__device__ Number add(Number a, Number b) {
  Number c;
  asm("add.cc.u32 %0, %4, %8;\n\t"
      "addc.cc.u32 %1, %5, %9;\n\t"
      "addc.cc.u32 %2, %6, %10;\n\t"
      "addc.u32 %3, %7, %11;"
      : "=r"(c.limbs[0]), "=r"(c.limbs[1]), "=r"(c.limbs[2]), "=r"(c.limbs[3])
      : "r"(a.limbs[0]), "r"(a.limbs[1]), "r"(a.limbs[2]), "r"(a.limbs[3]), "r"(b.limbs[0]),
        "r"(b.limbs[1]), "r"(b.limbs[2]), "r"(b.limbs[3]));
  return c;
}

__device__ Number subtract(Number a, Number b) {
  Number c;
  asm("sub.cc.u32 %0, %4, %8;\n\t"
      "subc.cc.u32 %1, %5, %9;\n\t"
      "subc.cc.u32 %2, %6, %10;\n\t"
      "subc.u32 %3, %7, %11;"
      : "=r"(c.limbs[0]), "=r"(c.limbs[1]), "=r"(c.limbs[2]), "=r"(c.limbs[3])
      : "r"(a.limbs[0]), "r"(a.limbs[1]), "r"(a.limbs[2]), "r"(a.limbs[3]), "r"(b.limbs[0]),
        "r"(b.limbs[1]), "r"(b.limbs[2]), "r"(b.limbs[3]));
  return c;
}

__global__ void work(const Number* a, const Number* b, Number* result) {
  result[2 * threadIdx.x] = add(a[threadIdx.x], b[threadIdx.x]);
  result[2 * threadIdx.x + 1] = subtract(a[threadIdx.x], b[threadIdx.x]);
}

int main() {
  Number *a, *b, *result;
  cudaMallocManaged(&a, 2 * sizeof(Number));
  cudaMallocManaged(&b, 2 * sizeof(Number));
  cudaMallocManaged(&result, 4 * sizeof(Number));
  a[0] = {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0}};
  b[0] = {{1, 0, 0, 0}};
  a[1] = {{0, 0x80000000u, 5, 7}};
  b[1] = {{2, 0x80000000u, 0xfffffffbu, 1}};
  work<<<1, 2>>>(a, b, result);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; i++) {
    for (int j = 3; j >= 0; j--) printf("%08x", result[i].limbs[j]);
    printf("\n");
  }
}
