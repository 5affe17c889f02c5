// Arithmetic that one or another LLVM from 19 to 22 gets wrong on AMD GPUs, or was reported to
// (docs/compiler_faults.md): each function on the GPU, with operands that are uniform and others
// that are not, against the host's compiler. The last line is "compared"; others say what is wrong.
#include <cmath>
#include <cstdio>
#include <cstring>
using u32 = unsigned;
using u64 = unsigned long long;
using u128 = unsigned __int128;
struct Out {
  u32 w[8];
};
#define HD __host__ __device__
HD inline u64 wide(u32 a, u32 b) { return (u64)a << 32 | b; }
HD inline void put(Out& o, int i, u64 v) { o.w[i] = (u32)v, o.w[i + 1] = (u32)(v >> 32); }
HD inline u32 bits(float f) {
  u32 u;
  memcpy(&u, &f, 4);
  return f != f ? 0x7fffffffu : u;
}
HD inline float number(u32 u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

HD void divided24(Out& o, u32 a, u32 b, u32) {
  u32 x = a & 0xffffff, y = (b & 0xffffff) | 1;
  int s = (int)(a << 8) >> 8, t = (int)(b << 8) >> 8;
  if (t == 0) t = -1;
  o.w[0] = x / y, o.w[1] = x % y, o.w[2] = s / t, o.w[3] = s % t;
}
HD void divided23(Out& o, u32 a, u32 b, u32) {
  u32 x = a & 0x7fffff, y = (b & 0x7fffff) | 1;
  int s = (int)(a << 9) >> 9, t = (int)(b << 9) >> 9;
  if (t == 0) t = -1;
  o.w[0] = x / y, o.w[1] = x % y, o.w[2] = s / t, o.w[3] = s % t;
  o.w[4] = (a & 0xffff) / ((b & 0xffff) | 1), o.w[5] = (int)(short)a / ((int)(short)b | 1);
}
HD void signed_limits(Out& o, u32 a, u32 b, u32 c) {
  int x = (int)(short)a, y = (int)(short)b, s = (int)(signed char)a, t = (int)(signed char)b,
      p = (int)a >> 8, q = (int)b >> 8;
  y = y ? y : -1, t = t ? t : -1, q = q ? q : -1;
  o.w[0] = x / y, o.w[1] = x % y, o.w[2] = s / t, o.w[3] = p / q;
  long long v = (int)a, w = (int)b;
  w = w ? w : -1;
  put(o, 4, v / w), put(o, 6, (v % w) + (long long)x / y + (long long)p / (c & 1 ? -1 : q));
}
HD void leading_ones(Out& o, u32 a, u32 b, u32 c) {
  u32 x = (u32)(int)(short)a, y = (b & 63) + 1;
  o.w[0] = x / y, o.w[1] = x % y, o.w[2] = ~2u % (c >> 1 | 1), o.w[3] = (~(a & 0xff)) / y;
  u64 z = (u64)(long long)(short)b;
  put(o, 4, z / y), put(o, 6, z % (y + 7));
}
HD void divided64(Out& o, u32 a, u32 b, u32 c) {
  u64 x = wide(a, b), y = wide(c & 0xff, a) | 1;
  put(o, 0, x / y), put(o, 2, x % y), put(o, 4, x / 10), put(o, 6, x % 1000000007ull);
}
HD void funnels(Out& o, u32 a, u32 b, u32 c) {
  o.w[0] = a << 1 | b >> 31, o.w[1] = a << 5 | b >> 27, o.w[2] = a << 31 | b >> 1;
  o.w[3] = a << 7 | 0x12345678u >> 25, o.w[4] = a >> 9 | b << 23, o.w[5] = a << 13 | a >> 19;
  o.w[6] = (u32)(wide(a, b) >> (c & 31)), o.w[7] = (u32)(wide(a, b) << (c & 31) >> 32);
}
HD void carries(Out& o, u32 a, u32 b, u32 c) {
  u128 x = (u128)wide(a, b) << 64 | wide(c, a), y = (u128)wide(b, c) << 64 | wide(a, b);
  u128 s = x + y, d = x - y;
  put(o, 0, (u64)(s >> 64)), put(o, 2, (u64)(d >> 64));
  u64 p = wide(a, b), q = wide(c, b), r = p + q;
  u32 carry = r < p, borrow = p < q;
  o.w[4] = carry + a, o.w[5] = borrow * 3 + (u32)(r >> 32), o.w[6] = a - b - (u32)(p - q > p);
  u32 t = a + b, k = t < a, t2 = t + c, k2 = t2 < t, t3 = b + k + k2;
  o.w[7] = t3 + (t3 < b) * 7;
}
HD void more_carries(Out& o, u32 a, u32 b, u32 c) {
  u32 carry, w[3];
  u64 s = (u64)a + b;
  w[0] = (u32)s, carry = s >> 32;
  s = (u64)b + c + carry, w[1] = (u32)s, carry = s >> 32;
  s = (u64)c + ~0u + carry, w[2] = (u32)s, carry = s >> 32;
  o.w[0] = w[0] ^ w[1], o.w[1] = w[2], o.w[2] = carry, o.w[3] = carry ? a : b;
  long long d = (long long)a - b;
  u32 borrow = d < 0;
  long long e = (long long)c - a - borrow;
  o.w[4] = (u32)d, o.w[5] = (u32)e, o.w[6] = e < 0, o.w[7] = (u32)(0 - carry) - (a == 0);
}
HD void carried(Out& o, u32 a, u32 b, u32 c) {
  u32 x = a, y = b == 7 ? 1 : b, p = c, q = a ^ 5, s = p + q, cc = s < p, t = x + y, r = t + cc,
      co = r < t;
  o.w[0] = r, o.w[1] = co, o.w[2] = s;
  u32 d = p - q, bb = p < q, u = x - y, v = u - bb, bo = u < bb;
  o.w[3] = v, o.w[4] = bo, o.w[5] = d;
  u64 e = (u64)(x + y) + (u32)(((u64)p + q) >> 32);
  put(o, 6, e);
}
HD void three_words(Out& o, u32 a, u32 b, u32 c) {
  u32 k = 0, sum = a + b, w0 = sum + c, k0 = w0 < sum;
  u32 w1 = (b + c) + k0, k1 = w1 < k0, w2 = (a + 1) + k1, k2 = w2 < k1, w3 = (b + ~0u) + k2;
  k = w3 < k2;
  o.w[0] = w0, o.w[1] = w1, o.w[2] = w2, o.w[3] = w3, o.w[4] = k, o.w[5] = k0 + k1 * 2 + k2 * 4;
  u64 p = wide(a, b), q = wide(b, c), s = p + q, m = s < p, t = (q + p) + m, n = t < m;
  put(o, 6, t + n * 0x100000000ull);
}
HD void splats(Out& o, u32 a, u32 b, u32 c) {
  u64 x = wide(a, b);
  o.w[0] = x == 0x2a0000002aull, o.w[1] = x != 0x0000000100000001ull,
  o.w[2] = (x & 0x3f0000003full) > 5;
  put(o, 4, x + 0x4000000040ull), put(o, 6, (x ^ 0xfffffff0fffffff0ull) | wide(c, 1));
  o.w[3] = (x | 0x1000000010ull) == 0x2a0000003aull;
}
HD void shorts(Out& o, u32 a, u32 b, u32) {
  short x = (short)a, y = (short)(b >> 16), z = (short)(x >> (b & 7)), w = (short)(y >> 3);
  o.w[0] = (int)z, o.w[1] = (int)w * 3, o.w[2] = (unsigned short)z + (unsigned short)w;
  o.w[3] = (u32)(unsigned short)(z - w) << 16 | 0x3c00,
  o.w[4] = (u32)(unsigned short)(x + y) << 16 | (unsigned short)(y - x);
  o.w[5] = (signed char)(a >> 8) >> (b & 3),
  o.w[6] = (int)(signed char)(x + 3) - (signed char)(y - 3);
  o.w[7] = (unsigned char)(a >> 16) * (unsigned char)(b >> 8) + (unsigned short)(x * y);
}
HD void packed(Out& o, u32 a, u32 b, u32 c) {
  u32 raw[4] = {a, b, c, a ^ b};
  short v[8], s[8], t[8];
  const short added[8] = {0, 1, 2, 3, 4, 5, 6, 7}, times[8] = {1, 1, 2, 3, 0, 0, 7, -1};
  memcpy(v, raw, 16);
  for (int i = 0; i < 8; ++i) s[i] = v[i] + added[i], t[i] = v[i] * times[i];
  memcpy(o.w, s, 16), memcpy(o.w + 4, t, 16);
}
HD void bytes(Out& o, u32 a, u32 b, u32 c) {
  o.w[0] = a << 24 | (a & 0xff00) << 8 | (a >> 8 & 0xff00) | a >> 24,
  o.w[1] = (a & 0xff) << 24 | (b & 0xff00) << 8 | (c >> 16 & 0xff) << 8 | a >> 24;
  o.w[2] = (a >> 8 & 0xff) | (b >> 24) << 8 | 0x120000, o.w[3] = (a & 0xffff0000) | (b >> 16),
  o.w[4] = a << 16 | (b & 0xffff);
  o.w[5] = (u32)(unsigned char)(a >> 8 ^ b >> 16) << 16 | (unsigned char)(a + b),
  o.w[6] = (a & 0xff00ff) | (b & 0xff00ff00), o.w[7] = (a >> 24 | b << 8) ^ (c >> 24 | c << 8);
}
HD void dots(Out& o, u32 a, u32 b, u32 c) {
  int s = (int)c, t = 0, m = 0;
  u32 u = c, v = 0;
  for (int k = 0; k < 4; ++k) {
    signed char x = (signed char)(a >> 8 * k), y = (signed char)(b >> 8 * k);
    unsigned char p = (unsigned char)(a >> 8 * k), q = (unsigned char)(b >> 8 * (3 - k));
    s += x * y, u += p * q, m += x * q, t += x * (signed char)(b >> 8 * (k ^ 1));
    if (k != 1) v += p * (unsigned char)(c >> 8 * k);
  }
  o.w[0] = s, o.w[1] = u, o.w[2] = m, o.w[3] = t, o.w[4] = v;
  short d0 = (short)a, d1 = (short)(a >> 16), e0 = (short)b, e1 = (short)(b >> 16);
  o.w[5] = d0 * e0 + d1 * e1 + (int)c, o.w[6] = d0 * e1 + d1 * e0;
  o.w[7] = (a & 0xffff) * (b & 0xffff) + (a >> 16) * (b >> 16) + c;
}
HD void swapped(Out& o, u32 a, u32 b, u32 c) {
  float x = number(a & 0x3fffffff), y = number(b & 0x3fffffff), z = number(c & 0x3fffffff);
  float s[4] = {x + z, y + z, y + z, x + z}, t[4] = {y * z, x * z, x * z, y * z};
  u64 p, q;
  float lo[2] = {s[0], s[1]}, hi[2] = {s[1], s[0]};
  memcpy(&p, lo, 8), memcpy(&q, hi, 8);
  put(o, 0, p), put(o, 2, q);
  for (int i = 0; i < 4; ++i) o.w[4 + i] = bits(t[i]) ^ bits(s[3 - i]);
}
HD void halves_of_64(Out& o, u32 a, u32 b, u32 c) {
  double x, y;
  u64 p = wide(a & 0x3fffffff, b), q = wide(c & 0x3fffffff, a);
  memcpy(&x, &p, 8), memcpy(&y, &q, 8);
  double d[2] = {x + y, x - y};
  u64 e[2];
  memcpy(e, d, 16);
  put(o, 0, e[0] >> 32 | e[0] << 32), put(o, 2, e[1] & 0xffffffff | e[0] << 32),
      put(o, 4, e[0] & 0xffffffff | e[1] << 32), put(o, 6, e[1] >> 32 | e[1] << 32);
}
HD void triangle(Out& o, u32 a, u32 b, u32 c) {
  u32 n = a & 7, base = b & 15;
  u64 sum = 0, total = 0;
  for (u64 k = 1; k <= n; ++k) {
    u64 v = 0;
    for (u64 r = k; r <= n; ++r) v += (c >> (r & 15)) + base;
    sum ^= v << k;
    total += v;
  }
  u64 m = a > b ? wide(0, c & 31) : 0;
  for (u64 i = 0; i < m; ++i) total += i * a;
  put(o, 0, sum), put(o, 2, total), put(o, 4, m);
}
HD void clamped(Out& o, u32 a, u32 b, u32 c) {
  float x = number(a), y = number(b), z = number(c), inf = INFINITY;
  if (x != x) x = 2;
  if (y != y) y = NAN;
  if (z != z) z = NAN;  // nvcc saturates NaN to 0
  o.w[0] = bits(fmaxf(fminf(x, 1.0f), 0.0f) + 1), o.w[1] = bits(fminf(fmaxf(x, 0.0f), 1.0f) + 1),
  o.w[2] = bits(fminf(fmaxf(x, 2.0f), 5.0f)), o.w[3] = bits(fmaxf(fminf(x, inf), 3.0f));
  o.w[4] = bits(fminf(fminf(x, y), z) + 1), o.w[5] = bits(fmaxf(fminf(x, y), 3.5f) + 1),
  o.w[6] = x < y   ? 1
           : y < x ? 2
                   : 3,
  o.w[7] = bits(fminf(fmaxf(x, y), -inf));
}
HD void products(Out& o, u32 a, u32 b, u32 c) {
  u64 x = wide(a, b);
  u32 p = a & 0xffffff, q = b & 0xffffff;
  int s = (int)(a << 8) >> 8, t = (int)(b << 8) >> 8;
  put(o, 0, x + (x >> 32) * 0xffffffff00000005ull),
      o.w[2] = p * q, o.w[3] = (u32)((u64)p * q >> 32), o.w[4] = s * t,
      o.w[5] = (u32)((long long)s * t >> 32);
  put(o, 6, (u64)a * b + wide(c, a) - (u64)c * 7);
}
HD void fields(Out& o, u32 a, u32 b, u32 c) {
  o.w[0] = a >> 5 & 0x3ff, o.w[1] = (int)(a << 7) >> 22, o.w[2] = (a & 0xff00) | (b & ~0xff00),
  o.w[3] = (a & c) | (b & ~c), o.w[4] = (a >> 1 & 0x55555555) + (a & 0x55555555),
  o.w[5] = (a ^ b) >> 3;
  o.w[6] = a >> (b & 31) & ((1u << (c & 15)) - 1), o.w[7] = (a << (b & 31)) >> (b & 31);
}
HD void selects(Out& o, u32 a, u32 b, u32 c) {
  u64 x = wide(a, b), y = wide(b, c);
  bool less = (long long)x < (long long)y;
  put(o, 0, less ? x : y), put(o, 2, less ? y - x : x - y);
  o.w[4] = less && a > c || b == a, o.w[5] = (a < b) + (b < c) + (int)(c < a) * 2,
  o.w[6] = a < b ? (b < c ? a : c) : (a < c ? b : a ^ c), o.w[7] = (u32) - (int)(a > b) & c;
}

#ifdef __clang__
HD void built_in(Out& o, u32 a, u32 b, u32 c) {
  u32 k, k2, s, d;
  s = __builtin_addc(c, a ^ 5, 0u, &k), o.w[0] = __builtin_addc(a + b, 0u, k, &k2), o.w[1] = k2,
  o.w[2] = s;
  d = __builtin_subc(c, a ^ 5, 0u, &k), o.w[3] = __builtin_subc(a - b, 0u, k, &k2), o.w[4] = k2,
  o.w[5] = d;
  o.w[6] = __builtin_addc(b + ~0u, 0u, k, &k2), o.w[7] = k2;
}
HD u32 half_bits(_Float16 h) {
  unsigned short v;
  memcpy(&v, &h, 2);
  return h != h ? 0x7fff : v;
}
HD void rounded_once(Out& o, u32 a, u32 b, u32 c) {
  u64 near_tie = (u64)(1008 + (a & 31)) << 52 | (u64)(b & 1023) << 42 | 1ull << 41,
      other = near_tie;
  near_tie |= c & 1, other -= c & 3;
  double x, y;
  memcpy(&x, &near_tie, 8), memcpy(&y, &other, 8);
  o.w[0] = half_bits((_Float16)x), o.w[1] = half_bits((_Float16)y);
  o.w[2] = half_bits((_Float16)(float)x), o.w[3] = half_bits((_Float16)-x);
}
#define BUILT_IN(F) F(built_in) F(rounded_once)
#else
#define BUILT_IN(F)
#endif
#define FORMS(F)                                                                                   \
  BUILT_IN(F)                                                                                      \
  F(divided24)                                                                                     \
  F(divided23) F(signed_limits) F(leading_ones) F(divided64) F(funnels) F(carries) F(more_carries) \
      F(carried) F(three_words) F(splats) F(shorts) F(packed) F(bytes) F(dots) F(swapped)          \
          F(halves_of_64) F(triangle) F(clamped) F(products) F(fields) F(selects)
#define KERNELS(f)                                 \
  __global__ void f##_u(Out* o, const u32* in) {   \
    int i = blockIdx.x;                            \
    Out r = {};                                    \
    f(r, in[i], in[i + 1], in[i + 2]);             \
    if (threadIdx.x == 0) o[i] = r;                \
  }                                                \
  __global__ void f##_d(Out* o, const u32* in) {   \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    Out r = {};                                    \
    f(r, in[i], in[i + 1], in[i + 2]);             \
    o[i] = r;                                      \
  }
FORMS(KERNELS)
const int N = 256;
u32 in[N + 2];
Out made[N];
void compare(const char* name, const char* how, void (*f)(Out&, u32, u32, u32)) {
  int wrong = 0;
  for (int i = 0; i < N; ++i) {
    Out r = {};
    f(r, in[i], in[i + 1], in[i + 2]);
    for (int k = 0; k < 8; ++k)
      if (r.w[k] != made[i].w[k] && ++wrong == 1)
        printf("%s %s: word %d of (%x, %x, %x) is %x, not %x\n", name, how, k, in[i], in[i + 1],
               in[i + 2], made[i].w[k], r.w[k]);
  }
  if (wrong) printf("%s %s: %d words are wrong\n", name, how, wrong);
}
int main() {
  const u32 edges[] = {
      0,          1,          2,          7,        0xff,     0x100,      0x7fff,     0x8000,
      0xffff,     0x10000,    0x7fffff,   0x800000, 0xffffff, 0x1000000,  0x7fffffff, 0x80000000,
      0xffffffff, 0xfffffffe, 0xffff8000, 0x2a,     0x2a,     0x3f800000, 0x7f800000, 0xff800000,
      0x7fc00000, 0xbf800000, 0x40a00000, 0xff8000, 0x555555, 0xaaaaaa,   0x123456,   0x00800001};
  u64 state = 88172645463325252ull;
  for (int i = 0; i < N + 2; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    in[i] = i % 3 == 0 ? (u32)state : edges[(state >> 20) % 32];
  }
  const u32 pairs[][2] = {{0x8000, 0xffff},         {0x80, 0xff},
                          {0x80000000, 0xffffffff}, {0x800000, 0xffffff},
                          {0x400000, 0x7fffff},     {0xff800000, 0xffffffff},
                          {0xffff8000, 0xffffffff}, {0x80000080, 0xffffffff},
                          {0xffffffff, 1},          {1, 0xffffffff},
                          {0xffffffff, 7}};
  for (int i = 0; i < 11; ++i) in[2 * i] = pairs[i][0], in[2 * i + 1] = pairs[i][1];
  u32* d;
  Out* o;
  cudaMalloc(&d, sizeof in), cudaMalloc(&o, sizeof made);
  cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice);
#define RUN(f)                                              \
  f##_u<<<N, 1>>>(o, d);                                    \
  cudaMemcpy(made, o, sizeof made, cudaMemcpyDeviceToHost); \
  compare(#f, "uniform", f);                                \
  f##_d<<<N / 64, 64>>>(o, d);                              \
  cudaMemcpy(made, o, sizeof made, cudaMemcpyDeviceToHost); \
  compare(#f, "by lane", f);
  FORMS(RUN)
  printf("compared\n");
}
