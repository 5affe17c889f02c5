// CUDA's "SIMD Intrinsics" (two 16-bit or four 8-bit values in a 32-bit word) and dot products.
#pragma once

namespace cass_simd {

// Applies `operation` to each Lane-sized part of two words. Results are cut to the part's size.
template <typename Lane, typename Operation>
__device__ inline unsigned lanewise(unsigned a, unsigned b, Operation operation) {
  constexpr int kLanes = 4 / sizeof(Lane);
  Lane left[kLanes], right[kLanes];
  __builtin_memcpy(left, &a, 4);
  __builtin_memcpy(right, &b, 4);
#pragma unroll
  for (int i = 0; i < kLanes; ++i) left[i] = static_cast<Lane>(operation(left[i], right[i]));
  unsigned result;
  __builtin_memcpy(&result, left, 4);
  return result;
}

template <typename Lane, typename Word>
__device__ inline Word dot(unsigned a, unsigned b, Word sum) {
  Lane left[4], right[4];
  __builtin_memcpy(left, &a, 4);
  __builtin_memcpy(right, &b, 4);
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += static_cast<Word>(left[i]) * static_cast<Word>(right[i]);
  return sum;
}

template <typename To, typename From>
__device__ inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the sizes differ");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace cass_simd

#define CASS_LANES(NAME, LANE, EXPRESSION)                                                  \
  __device__ inline unsigned NAME(unsigned x, unsigned y) {                                 \
    return cass_simd::lanewise<LANE>(x, y, [](int a, int b) { return EXPRESSION; });        \
  }
#define CASS_EITHER_SIGN(NAME, EXPRESSION)      \
  CASS_LANES(NAME##2, unsigned short, EXPRESSION) \
  CASS_LANES(NAME##4, unsigned char, EXPRESSION)
#define CASS_SIGNED(NAME, EXPRESSION)    \
  CASS_LANES(NAME##2, short, EXPRESSION) \
  CASS_LANES(NAME##4, signed char, EXPRESSION)

CASS_EITHER_SIGN(__vadd, a + b)
CASS_EITHER_SIGN(__vsub, a - b)
CASS_EITHER_SIGN(__vavgu, (a + b + 1) >> 1)
CASS_SIGNED(__vavgs, (a + b + (a + b >= 0)) >> 1)
CASS_EITHER_SIGN(__vhaddu, (a + b) >> 1)
CASS_EITHER_SIGN(__vabsdiffu, a > b ? a - b : b - a)
CASS_SIGNED(__vabsdiffs, a > b ? a - b : b - a)
CASS_EITHER_SIGN(__vminu, a < b ? a : b)
CASS_EITHER_SIGN(__vmaxu, a > b ? a : b)
CASS_SIGNED(__vmins, a < b ? a : b)
CASS_SIGNED(__vmaxs, a > b ? a : b)
CASS_EITHER_SIGN(__vcmpeq, a == b ? -1 : 0)
CASS_EITHER_SIGN(__vcmpne, a != b ? -1 : 0)
CASS_EITHER_SIGN(__vcmpltu, a < b ? -1 : 0)
CASS_EITHER_SIGN(__vcmpleu, a <= b ? -1 : 0)
CASS_EITHER_SIGN(__vcmpgtu, a > b ? -1 : 0)
CASS_EITHER_SIGN(__vcmpgeu, a >= b ? -1 : 0)
CASS_SIGNED(__vcmplts, a < b ? -1 : 0)
CASS_SIGNED(__vcmples, a <= b ? -1 : 0)
CASS_SIGNED(__vcmpgts, a > b ? -1 : 0)
CASS_SIGNED(__vcmpges, a >= b ? -1 : 0)
CASS_EITHER_SIGN(__vseteq, a == b)
CASS_EITHER_SIGN(__vsetne, a != b)
CASS_EITHER_SIGN(__vsetltu, a < b)
CASS_EITHER_SIGN(__vsetgtu, a > b)
CASS_LANES(__vaddus4, unsigned char, a + b > 255 ? 255 : a + b)
CASS_LANES(__vaddus2, unsigned short, a + b > 65535 ? 65535 : a + b)
CASS_LANES(__vsubus4, unsigned char, a > b ? a - b : 0)
CASS_LANES(__vsubus2, unsigned short, a > b ? a - b : 0)
CASS_LANES(__vaddss4, signed char, a + b > 127 ? 127 : a + b < -128 ? -128 : a + b)
CASS_LANES(__vaddss2, short, a + b > 32767 ? 32767 : a + b < -32768 ? -32768 : a + b)
CASS_LANES(__vsubss4, signed char, a - b > 127 ? 127 : a - b < -128 ? -128 : a - b)
CASS_LANES(__vsubss2, short, a - b > 32767 ? 32767 : a - b < -32768 ? -32768 : a - b)

#undef CASS_SIGNED
#undef CASS_EITHER_SIGN
#undef CASS_LANES

__device__ inline unsigned __vneg2(unsigned x) { return __vsub2(0, x); }
__device__ inline unsigned __vneg4(unsigned x) { return __vsub4(0, x); }
__device__ inline unsigned __vabs2(unsigned x) { return __vmaxs2(x, __vneg2(x)); }
__device__ inline unsigned __vabs4(unsigned x) { return __vmaxs4(x, __vneg4(x)); }
__device__ inline unsigned __vsadu4(unsigned x, unsigned y) {
  return cass_simd::dot<unsigned char>(__vabsdiffu4(x, y), 0x01010101u, 0u);
}

__device__ inline int __dp4a(int a, int b, int sum) {
  return cass_simd::dot<signed char>(a, b, sum);
}
__device__ inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return cass_simd::dot<unsigned char>(a, b, sum);
}
__device__ inline int __dp4a(char4 a, char4 b, int sum) {
  return __dp4a(cass_simd::bits<int>(a), cass_simd::bits<int>(b), sum);
}
__device__ inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
  return __dp4a(cass_simd::bits<unsigned>(a), cass_simd::bits<unsigned>(b), sum);
}
