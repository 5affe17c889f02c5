"""Carries and registers that ``asm`` statements of one function hand to one another.

Expected values are Python's integers.
"""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator
from tests.translate.programs import output_of

WORDS = 5
VALUES = [
    (2**160 - 1, 1),
    (0x123456789ABCDEF0FEDCBA9876543210DEADBEEF, 0xFFFFFFFF00000000FFFFFFFFFFFFFFFF00000001),
    (7, 9),
]

PROGRAM = r"""
#include <cstdio>
#include <cstring>
struct Number {
  unsigned w[5];
  __device__ unsigned add(const Number& o) {
    unsigned out;
    asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(w[0]) : "r"(o.w[0]));
    for (int i = 1; i < 5; ++i) {
      asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(w[i]) : "r"(o.w[i]));
    }
    asm volatile("addc.u32 %0, 0, 0;" : "=r"(out));
    return out;
  }
};
__device__ unsigned subtract(unsigned* r, const unsigned* a, const unsigned* b) {
  asm volatile("sub.cc.u32 %0, %1, %2;\n\t" : "=r"(r[0]) : "r"(a[0]), "r"(b[0]));
#pragma unroll
  for (int i = 1; i < 5; ++i)
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r[i]) : "r"(a[i]), "r"(b[i]));
  unsigned borrow;
  asm volatile("subc.u32 %0, %1, %2;" : "=r"(borrow) : "r"(0), "r"(0));
  return borrow;
}
template <class T> __device__ auto multiply(unsigned* r, const T* a, unsigned b) -> void {
  asm("mul.lo.u32 %0, %1, %2;" : "=r"(r[0]) : "r"(a[0]), "r"(b));
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(r[1]) : "r"(a[0]), "r"(b));
  asm("mad.lo.cc.u32 %0, %1, %2, %0;" : "+r"(r[1]) : "r"(a[1]), "r"(b));
  asm("madc.hi.u32 %0, %1, %2, 0;" : "=r"(r[2]) : "r"(a[1]), "r"(b));
}
__device__ unsigned long long modulo_add(unsigned long long a, unsigned long long b) {
  const unsigned long long modulus = 0xffffffff00000001ull;
  unsigned long long rest;
  unsigned carry;
  asm("add.cc.u64 %0, %0, %2; addc.u32 %1, 0, 0;" : "+l"(a), "=r"(carry) : "l"(b));
  asm("{ .reg.pred %top;");
  asm("sub.cc.u64 %0, %2, %3; subc.u32 %1, %1, 0;"
      : "=l"(rest), "+r"(carry) : "l"(a), "l"(modulus));
  asm("setp.eq.u32 %top, %0, 0;" :: "r"(carry));
  asm("@%top mov.b64 %0, %1;" : "+l"(a) : "l"(rest));
  asm("}");
  return a;
}
__device__ float raw(float v) {
  float r;
  asm(R"({
    .reg .b32 %u;
    and.b32 %u, %1, 0x7f800000;
    mov.b32 %0, %u;
  })" : "=f"(r) : "f"(v));
  return r;
}
__global__ void all(const unsigned* in, unsigned long long* out) {
  unsigned n[5];
  int at = 0;
  for (int k = 0; k < 3; ++k, in += 10) {
    Number a, b;
    for (int i = 0; i < 5; ++i) a.w[i] = in[i], b.w[i] = in[5 + i];
    const unsigned borrow = subtract(n, a.w, b.w);
    const unsigned carry = a.add(b);
    for (int i = 0; i < 5; ++i) out[at++] = a.w[i];
    out[at++] = carry;
    for (int i = 0; i < 5; ++i) out[at++] = n[i];
    out[at++] = borrow;
  }
  multiply(n, in - 10, 0xfedcba98u);
  for (int i = 0; i < 3; ++i) out[at++] = n[i];
  out[at++] = modulo_add(0xffffffff00000000ull, 0xfffffffe00000005ull);
  out[at++] = modulo_add(3, 4);
  out[at++] = __float_as_uint(raw(-6.5f));
}
int main() {
  static const unsigned values[] = {VALUES};
  unsigned* in;
  unsigned long long* out;
  cudaMallocManaged(&in, sizeof values);
  cudaMallocManaged(&out, 42 * 8);
  memcpy(in, values, sizeof values);
  all<<<1, 1>>>(in, out);
  if (cudaDeviceSynchronize()) return 1;
  printf("results:");
  for (int i = 0; i < 42; ++i) printf(" %llu", out[i]);
  printf("\n");
}
"""


def words(number: int, count: int = WORDS) -> list[int]:
    return [number >> 32 * i & 0xFFFFFFFF for i in range(count)]


@pytest.mark.amd
def test_statements_in_a_row() -> None:
    values = ", ".join(f"{word}u" for pair in VALUES for each in pair for word in words(each))
    expected = []
    for a, b in VALUES:
        expected += [*words(a + b), a + b >> 160]
        expected += [*words(a - b), 0xFFFFFFFF if a < b else 0]
    expected += words((7 + (0 << 32)) * 0xFEDCBA98, 3)
    modulus = 0xFFFFFFFF00000001
    expected += [(0xFFFFFFFF00000000 + 0xFFFFFFFE00000005) % modulus, 7]
    expected += [129 << 23]  # 6.5 is 1.625 * 2^2
    printed = output_of(PROGRAM.replace("VALUES", values))["results"].split()
    assert [int(each) for each in printed] == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        # Another function's carry, as CGBN has it.
        (
            'void a() { asm("add.cc.u32 %0, 1, 2;" : "=r"(x)); }\n'
            'void b() { asm("addc.u32 %0, 0, 0;" : "=r"(x)); }\n',
            "carry from another asm",
        ),
        ('void a() { asm("addc.u32 %0, 0, 0;" : "=r"(x)); }\n', "carry from another asm"),
        ('asm("addc.u32 %0, 0, 0;" : "=r"(x));\n', "carry from another asm"),
        # One statement of the function is unknown: the carry may be its.
        (
            'void a() { asm("add.cc.u32 %0, 1, 2;" : "=r"(x)); asm("wgmma.fence;");'
            ' asm("addc.u32 %0, 0, 0;" : "=r"(x)); }\n',
            "carry from another asm",
        ),
        # The lambda is a function of its own.
        (
            'void a() { asm("add.cc.u32 %0, 1, 2;" : "=r"(x));'
            ' auto f = [&]() { asm("addc.u32 %0, 0, 0;" : "=r"(x)); }; }\n',
            "carry from another asm",
        ),
        (
            'void a() { asm("{ .reg .pred p;"); asm("{ .reg .b32 p;");'
            ' asm("@p mov.u32 %0, 1;" : "=r"(x)); }\n',
            "the operand p",
        ),
    ],
)
def test_what_another_function_leaves_is_refused(source: str, message: str) -> None:
    errors = [
        each
        for each in RulesTranslator().translate(source, filename="a.cu").findings
        if each.severity == "error"
    ]
    assert any(message in each.message for each in errors)


@pytest.mark.parametrize(
    "head",
    [
        "void f()",
        "void C::f(int (*g)(int)) const noexcept",
        "template <class T> auto f(T x) -> decltype(x)",
        "C::C() : a(1), b(2)",
        "auto f = [=](int x) mutable",
    ],
)
def test_the_body_that_declares(head: str) -> None:
    body = (
        ' { if (a) { asm("add.cc.u32 %0, 1, 2;" : "=r"(x)); }'
        ' while (b) { asm("addc.u32 %0, 0, 0;" : "=r"(x)); } }'
    )
    made = RulesTranslator().translate(f"{head}{body}\n", filename="a.cuh")
    assert not [each for each in made.findings if each.severity == "error"]
    assert made.source.startswith(f"{head} {{ unsigned int cass_carry = 0; if (a) {{ do {{ ")
    assert made.source.count("unsigned int cass_carry") == 1


BRANCH = """
template <int N> __device__ unsigned reduce(unsigned v) {
  asm("{ .reg .pred %p;");
  if (N == 64) {
    unsigned carry;
    asm("addc.u32 %0, 0, 0;" : "=r"(carry));
    asm("setp.ne.u32 %p, %0, 0;" :: "r"(carry));
  } else {
    asm("setp.ge.u32 %p, %0, 7;" :: "r"(v));
  }
  asm("@%p sub.u32 %0, %0, 7;" : "+r"(v));
  asm("}");
  return v;
}
"""


def test_a_branch_that_takes_a_carry_from_elsewhere_ends_the_program() -> None:
    """The other branch, for widths without one, is translated."""
    made = RulesTranslator().translate(BRANCH)
    [error] = made.errors
    assert error.line == 6 and "carry from another asm" in error.message
    assert "asm(" not in made.source
    assert "unsigned carry;\n    __builtin_trap();" in made.source
    assert len(RulesTranslator().translate(BRANCH.replace("if (N == 64)", "for (;;)")).errors) > 1
