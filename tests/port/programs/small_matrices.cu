// Products of matrices of eight-bit floating-point numbers by a warp (mma.sync), each against the same
// product on the host: numbers with few bits, so that nothing is rounded in single precision, and all
// codes. In half precision an H200 rounds more than once: two units of the last place may differ.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

#include "tensor_layouts.h"

#define PRODUCT(K, SUMS, A, B, C, D, WORDS_OF_A, WORDS_OF_B) \
  asm volatile("mma.sync.aligned.m16n8k" #K ".row.col." #SUMS "." #A "." #B "." #SUMS " " D ", " WORDS_OF_A ", " WORDS_OF_B ", " D ";" \
               : C : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define SINGLES "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
#define HALVES "+r"(h[0]), "+r"(h[1])
#define PAIR(NUMBER, A, B)                                                                                           \
  case NUMBER:                                                                                                       \
    if (k == 32 && !halves) PRODUCT(32, f32, A, B, SINGLES, "{%0, %1, %2, %3}", "{%4, %5, %6, %7}", "{%8, %9}");     \
    if (k == 16 && !halves) PRODUCT(16, f32, A, B, SINGLES, "{%0, %1, %2, %3}", "{%4, %5}", "{%8}");                 \
    if (k == 32 && halves) PRODUCT(32, f16, A, B, HALVES, "{%0, %1}", "{%2, %3, %4, %5}", "{%6, %7}");               \
    if (k == 16 && halves) PRODUCT(16, f16, A, B, HALVES, "{%0, %1}", "{%2, %3}", "{%6}");                           \
    break;

// Of A and B rows and columns of k bytes; of the sums 16 rows of 8.
__global__ void product(int kinds, int k, bool halves, const uint8_t *rows, const uint8_t *columns, float *sums) {
  const int group = threadIdx.x / 4, inside = threadIdx.x % 4;
  uint32_t a[4] = {}, b[2] = {}, h[2];
  float c[4];
  for (int n = 0; n < k / 8; ++n) a[n] = *(const uint32_t *)(rows + (group + n % 2 * 8) * k + n / 2 * 16 + inside * 4);
  for (int n = 0; n < k / 16; ++n) b[n] = *(const uint32_t *)(columns + group * k + n * 16 + inside * 4);
  for (int n = 0; n < 4; ++n) c[n] = sums[(group + n / 2 * 8) * 8 + inside * 2 + n % 2];
  for (int n = 0; n < 2; ++n) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(h[n]) : "f"(c[2 * n + 1]), "f"(c[2 * n]));
  switch (kinds) {
    PAIR(0, e4m3, e4m3)
    PAIR(1, e4m3, e5m2)
    PAIR(2, e5m2, e4m3)
    PAIR(3, e5m2, e5m2)
  }
  for (int n = 0; n < 4; ++n) {
    float found = c[n];
    if (halves) asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(found) : "r"(n % 2 ? h[n / 2] >> 16 : h[n / 2]));
    sums[(group + n / 2 * 8) * 8 + inside * 2 + n % 2] = found;
  }
}

bool is_number(const Format &f, uint32_t code) { return &f == &of_e4m3 ? (code & 0x7f) != 0x7f : (code & 0x7f) < 0x7c; }

enum Codes { none, low_in_a, high_in_a, low_in_b, high_in_b };

int run(int kinds, int k, bool halves, int codes) {
  const Format &of_a = kinds & 2 ? of_e5m2 : of_e4m3, &of_b = kinds & 1 ? of_e5m2 : of_e4m3;
  std::vector<uint8_t> a(16 * k), b(8 * k);
  std::vector<float> sums(16 * 8), found(16 * 8);
  for (int n = 0; n < 16 * k; ++n) a[n] = code_of(of_a, n + kinds * 7001);
  for (int n = 0; n < 8 * k; ++n) b[n] = code_of(of_b, n + kinds * 9001 + 5);
  for (int n = 0; n < 16 * 8; ++n) sums[n] = (float)((int)(hashed(n) % 33) - 16);
  if (codes != none) {
    // One product in each sum: 1, and each number that there is, in A or in B; half of them at a time.
    const bool in_a = codes == low_in_a || codes == high_in_a;
    const int first = codes == low_in_a || codes == low_in_b ? 0 : 128, lines = in_a ? 16 : 8, others = in_a ? 8 : 16;
    const Format &of_codes = in_a ? of_a : of_b, &of_ones = in_a ? of_b : of_a;
    std::fill(a.begin(), a.end(), 0);
    std::fill(b.begin(), b.end(), 0);
    std::fill(sums.begin(), sums.end(), 0.f);
    for (int other = 0; other < others; ++other) {
      const int place = other * (k / others);
      (in_a ? b : a)[other * k + place] = &of_ones == &of_e4m3 ? 0x38 : 0x3c;
      for (int line = 0; line < lines; ++line) {
        const int code = first + line * others + other;
        if (is_number(of_codes, code)) (in_a ? a : b)[line * k + place] = code;
      }
    }
  }
  uint8_t *device_a, *device_b;
  float *device_sums;
  cudaMalloc(&device_a, a.size());
  cudaMalloc(&device_b, b.size());
  cudaMalloc(&device_sums, sums.size() * 4);
  cudaMemcpy(device_a, a.data(), a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), b.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(device_sums, sums.data(), sums.size() * 4, cudaMemcpyHostToDevice);
  product<<<1, 32>>>(kinds, k, halves, device_a, device_b, device_sums);
  if (cudaMemcpy(found.data(), device_sums, sums.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      double wanted = sums[row * 8 + column];
      for (int n = 0; n < k; ++n) {
        wanted += value(of_a, a[row * k + n]) * value(of_b, b[column * k + n]);
      }
      double slack = 0;
      if (halves) {  // to nearest even, eleven bits
        int exponent;
        std::frexp(wanted, &exponent);
        if (exponent < -13) exponent = -13;
        wanted = wanted == 0 ? 0 : std::ldexp(std::nearbyint(std::ldexp(wanted, 11 - exponent)), exponent - 11);
        if (codes == none) slack = std::ldexp(2, std::max(exponent, 5) - 11);  // sums begin with up to 16
      }
      const float mine = found[row * 8 + column];
      if (!(std::fabs(mine - (float)wanted) <= slack) && wrong++ < 3) std::printf("  %d, k %d, %d: row %d, column %d: %g, not %g\n", kinds, k, halves, row, column, mine, wanted);
    }
  }
  return wrong;
}

int main() {
  int wrong = 0;
  for (int kinds = 0; kinds < 4; ++kinds) {
    for (int k = 16; k <= 32; k += 16) {
      for (int halves = 0; halves < 2; ++halves) {
        for (int codes = none; codes <= high_in_b; ++codes) wrong += run(kinds, k, halves, codes);
      }
    }
  }
  std::printf("%d wrong\n", wrong);
}
