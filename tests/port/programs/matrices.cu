// Products by the tensor cores against the host's: whole numbers are the same in every order.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "expect.h"

#define BYTES(kinds, a, b)                                                                       \
  asm("mma.sync.aligned.m16n8k32.row.col." kinds                                                 \
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                         \
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                           \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

// A warp's 32 rows and 32 columns of a product; rows of A and columns of B have `depth` bytes.
template <class A, class B>
__global__ void multiply(const A *left, const B *right, int *out, int depth, int columns) {
  constexpr bool s = std::is_signed<A>::value, t = std::is_signed<B>::value;
  const int lane = threadIdx.x % 32, g = lane / 4, k = 4 * (lane % 4);
  const int row = 32 * blockIdx.y, column = 32 * (2 * blockIdx.x + threadIdx.x / 32);
  int sums[2][4][4] = {};
  for (int start = 0; start < depth; start += 32) {
    std::uint32_t a[2][4], b[4][2];
    for (int m = 0; m < 2; ++m)
      for (int n = 0; n < 4; ++n)
        std::memcpy(&a[m][n], left + (row + 16 * m + g + n % 2 * 8) * depth + start + k + n / 2 * 16, 4);
    for (int n = 0; n < 4; ++n)
      for (int m = 0; m < 2; ++m)
        std::memcpy(&b[n][m], right + (column + 8 * n + g) * depth + start + k + 16 * m, 4);
    for (int m = 0; m < 2; ++m)
      for (int n = 0; n < 4; ++n) {
        int(&c)[4] = sums[m][n];
        if (s && t) BYTES("s32.s8.s8.s32", a[m], b[n]);
        else if (s) BYTES("s32.s8.u8.s32", a[m], b[n]);
        else if (t) BYTES("s32.u8.s8.s32", a[m], b[n]);
        else BYTES("s32.u8.u8.s32", a[m], b[n]);
      }
  }
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 4; ++n)
      for (int e = 0; e < 4; ++e)
        out[(row + 16 * m + g + e / 2 * 8) * columns + column + 8 * n + lane % 4 * 2 + e % 2] =
            sums[m][n][e];
}

// The warps of a block multiply different numbers of times; meanwhile all keep words of their own.
__global__ void alone(const int *in, int *out) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int kept[8], c[4] = {lane, warp, 1, -lane};
  for (int n = 0; n < 8; ++n) kept[n] = in[8 * threadIdx.x + n];
  const int a[4] = {kept[0], kept[1], kept[2], kept[3]}, b[2] = {kept[4], kept[5]};
  for (int turn = 0; turn <= warp; ++turn) {
    BYTES("s32.s8.s8.s32", a, b);
    kept[turn] ^= c[1];
  }
  for (int n = 0; n < 4; ++n) out[12 * threadIdx.x + n] = c[n];
  for (int n = 0; n < 8; ++n) out[12 * threadIdx.x + 4 + n] = kept[n];
}

// C += A B of 16 by 8 by 16 halves, and the same with sums of halves.
__global__ void halves(const __half *left, const __half *right, float *out, __half *small) {
  const int lane = threadIdx.x % 32, g = lane / 4, k = lane % 4 * 2;
  left += threadIdx.x / 32 * 256, right += threadIdx.x / 32 * 128;
  out += threadIdx.x / 32 * 128, small += threadIdx.x / 32 * 128;
  std::uint32_t a[4], b[2], h[2] = {};
  float c[4] = {1, 2, 3, 4};
  for (int n = 0; n < 4; ++n) std::memcpy(&a[n], left + (g + n % 2 * 8) * 16 + k + n / 2 * 8, 4);
  for (int n = 0; n < 2; ++n) std::memcpy(&b[n], right + g * 16 + k + 8 * n, 4);
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7},"
      "{%0, %1};"
      : "+r"(h[0]), "+r"(h[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int e = 0; e < 4; ++e) out[(g + e / 2 * 8) * 8 + k + e % 2] = c[e];
  for (int e = 0; e < 2; ++e) std::memcpy(small + (g + 8 * e) * 8 + k, &h[e], 4);
}

// C += A B of 8 by 8 by 4 doubles.
__global__ void doubles(const double *left, const double *right, double *out) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  left += threadIdx.x / 32 * 32, right += threadIdx.x / 32 * 32, out += threadIdx.x / 32 * 64;
  double c[2] = {1.0 * g, -1.0 * t};
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(left[g * 4 + t]), "d"(right[g * 4 + t]));
  for (int e = 0; e < 2; ++e) out[g * 8 + 2 * t + e] = c[e];
}

static std::uint32_t state = 1;
static std::uint32_t random_word() { return state = state * 1664525 + 1013904223, state ^ state >> 16; }

template <class T>
static T *on_device(const std::vector<T> &host) {
  T *device;
  GOOD(cudaMalloc(&device, host.size() * sizeof(T)));
  GOOD(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}
template <class T>
static std::vector<T> from_device(const T *device, std::size_t count) {
  std::vector<T> host(count);
  GOOD(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

template <class A, class B>
static void check_bytes() {
  const int rows = 64, columns = 128, depth = 96;
  std::vector<A> a(rows * depth);
  std::vector<B> b(columns * depth);
  for (auto &each : a) each = static_cast<A>(random_word());
  for (auto &each : b) each = static_cast<B>(random_word());
  int *out;
  GOOD(cudaMalloc(&out, rows * columns * sizeof(int)));
  multiply<<<dim3(columns / 64, rows / 32), 64>>>(on_device(a), on_device(b), out, depth, columns);
  const auto found = from_device(out, rows * columns);
  int wrong = 0;
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n) {
      int sum = 0;
      for (int k = 0; k < depth; ++k) sum += a[m * depth + k] * b[n * depth + k];
      wrong += sum != found[m * columns + n];
    }
  EXPECT(wrong == 0);
}

// One m16n8k32 product of registers of a warp's lanes: four of A, two of B; c is added to.
static void on_host(const int (*words)[8], int (*c)[4]) {
  int sums[32][4];
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < 4; ++e) {
      sums[lane][e] = c[lane][e];
      for (int k = 0; k < 32; ++k) {
        const int step = k % 16 / 4, column = lane % 4 * 2 + e % 2;
        const int a = words[lane / 4 * 4 + step][k / 16 * 2 + e / 2] >> 8 * (k % 4);
        const int b = words[column * 4 + step][4 + k / 16] >> 8 * (k % 4);
        sums[lane][e] += static_cast<std::int8_t>(a) * static_cast<std::int8_t>(b);
      }
    }
  std::memcpy(c, sums, sizeof(sums));
}

static void check_alone(int threads) {
  std::vector<int> in(8 * threads);
  for (auto &each : in) each = static_cast<int>(random_word());
  int *out;
  GOOD(cudaMalloc(&out, 12 * threads * sizeof(int)));
  alone<<<1, threads>>>(on_device(in), out);
  const auto found = from_device(out, 12 * threads);
  int wrong = 0;
  for (int warp = 0; warp < threads / 32; ++warp) {
    int c[32][4], words[32][8], kept[32][8];
    std::memcpy(words, &in[8 * 32 * warp], sizeof(words));
    std::memcpy(kept, words, sizeof(kept));
    for (int lane = 0; lane < 32; ++lane) {
      const int start[4] = {lane, warp, 1, -lane};
      std::memcpy(c[lane], start, sizeof(start));
    }
    for (int turn = 0; turn <= warp; ++turn) {
      on_host(words, c);
      for (int lane = 0; lane < 32; ++lane) kept[lane][turn] ^= c[lane][1];
    }
    for (int lane = 0; lane < 32; ++lane)
      for (int n = 0; n < 12; ++n)
        wrong += found[12 * (32 * warp + lane) + n] != (n < 4 ? c[lane][n] : kept[lane][n - 4]);
  }
  EXPECT(wrong == 0);
}

static void check_halves(int warps) {
  std::vector<__half> a(256 * warps), b(128 * warps);
  for (auto &each : a) each = __float2half(static_cast<int>(random_word() % 15) - 7);
  for (auto &each : b) each = __float2half(static_cast<int>(random_word() % 15) - 7);
  float *out;
  __half *small;
  GOOD(cudaMalloc(&out, 128 * warps * sizeof(float)));
  GOOD(cudaMalloc(&small, 128 * warps * sizeof(__half)));
  halves<<<1, 32 * warps>>>(on_device(a), on_device(b), out, small);
  const auto found = from_device(out, 128 * warps);
  const auto also = from_device(small, 128 * warps);
  int wrong = 0;
  for (int n = 0; n < 128 * warps; ++n) {
    const int warp = n / 128, row = n % 128 / 8, column = n % 8;
    float sum = 0;
    for (int k = 0; k < 16; ++k)
      sum += __half2float(a[256 * warp + row * 16 + k]) * __half2float(b[128 * warp + column * 16 + k]);
    wrong += found[n] != sum + 1 + column % 2 + row / 8 * 2;
    wrong += __half2float(also[n]) != sum;
  }
  EXPECT(wrong == 0);
}

// Of thirds and sevenths, so that each sum is rounded; those of the host in the order of the depth.
static void check_doubles(int warps) {
  std::vector<double> a(32 * warps), b(32 * warps);
  for (auto &each : a) each = static_cast<int>(random_word()) / 3.0;
  for (auto &each : b) each = static_cast<int>(random_word()) / 7.0;
  double *out;
  GOOD(cudaMalloc(&out, 64 * warps * sizeof(double)));
  doubles<<<1, 32 * warps>>>(on_device(a), on_device(b), out);
  const auto found = from_device(out, 64 * warps);
  int wrong = 0;
  for (int n = 0; n < 64 * warps; ++n) {
    const int warp = n / 64, row = n % 64 / 8, column = n % 8;
    double sum = column % 2 ? -1.0 * (column / 2) : 1.0 * row;
    for (int k = 0; k < 4; ++k) sum = std::fma(a[32 * warp + row * 4 + k], b[32 * warp + column * 4 + k], sum);
    wrong += sum != found[n];
  }
  EXPECT(wrong == 0);
}

int main() {
  check_bytes<std::int8_t, std::int8_t>();
  check_bytes<std::int8_t, std::uint8_t>();
  check_bytes<std::uint8_t, std::int8_t>();
  check_bytes<std::uint8_t, std::uint8_t>();
  for (int warps : {1, 2, 3, 4}) {
    check_alone(32 * warps);
    check_halves(warps);
    check_doubles(warps);
  }
  return failures;
}
