// Half numbers of the host that are named by a macro, an alias, or as arguments of templates alone.
#include <cstdio>
#include <cuda_fp16.h>
#define REAL half
using Number = __half;
typedef half2 Pair;
template <typename A, class B> struct Two { A a; B b; float sum() { return float(a + A(1.f)) + float(b * b); } };
template <typename T> T twice(T x) { return x + x; }
int main() {
  REAL r = __float2half(1.5f); r += REAL(2.f);
  Number n(3.f); n = -n;
  Two<double, half> t{1.0, half(2.f)};
  Pair p = __float2half2_rn(2.f); p = p * p;
  printf("%g %g %g %g %d\n", float(r), float(n), t.sum(), float(twice(half(4.f))), r > n);
  printf("%g\n", __low2float(p));
}
