"""Functions whose result has another type in HIP keep CUDA's; expected values by hand."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator
from tests.translate.programs import output_of

ENGINE = RulesTranslator()

PROGRAM = r"""
#include <cstdio>

template <typename T>
__device__ int first(T value) {
  return __ffsll(value);
}

__global__ void counts(long long* out, unsigned bits, unsigned long long wide, int n) {
  out[0] = (__popc(bits) - n) % 1000;
  out[1] = (__popcll(wide) - n) / 2;
  out[2] = (long long)(__ffs(bits) - n);
  out[3] = __ffsll(wide) < -1 ? 1 : 0;
  out[4] = __umul24(0xffffffu, bits << 8) / 2;
  auto deduced = __popc(bits);
  out[5] = (deduced - n) >> 1;
  out[6] = first<unsigned long>(wide) + first<unsigned>(bits) + first(-8) + first(-1l << 40);
}

int main() {
  long long *device, host[7];
  cudaMalloc(&device, sizeof host);
  counts<<<1, 1>>>(device, 0xf0u, 0xff00ull, 20);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("counts:");
  for (long long value : host) printf(" %lld", value);
  printf("\n");
}
"""


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("x = __popc(a) - b;", "x = (int)__popc(a) - b;"),
        ("f(__popcll(a))", "f((int)__popcll(a))"),
        ("x = b * __ffs(a) - c;", "x = b * (int)__ffs(a) - c;"),
        ("x = b & __popc(a);", "x = b & (int)__popc(a);"),
        ("auto n = __ffs(a);", "auto n = (int)__ffs(a);"),
        ("y = __umul24(a, b) >> 1;", "y = (unsigned int)__umul24(a, b) >> 1;"),
        # HIP has it for two types, which are ambiguous for others.
        ("f(__ffsll(a))", "f((int)__ffsll(static_cast<long long>(a)))"),
        (
            "int n = __ffsll(a >> 1) - 1;",
            "int n = (int)__ffsll(static_cast<long long>(a >> 1)) - 1;",
        ),
        ("int n = __ffsll((long long)a);", "int n = __ffsll((long long)a);"),
        ("int n = __ffsll(12ULL);", "int n = __ffsll(12ULL);"),
        # The variable's type decides already.
        ("int n = __popc(a);", "int n = __popc(a);"),
        ("f((int)__popc(a))", "f((int)__popc(a))"),
        ("f(bits.__popc(a))", "f(bits.__popc(a))"),
        ("#define COUNT __popc\n", "#define COUNT __popc\n"),
    ],
)
def test_cast(cuda: str, hip: str) -> None:
    assert ENGINE.translate(cuda, filename="a.cuh").source == hip
    assert ENGINE.translate(hip, filename="a.cuh").source == hip


@pytest.mark.parametrize("result", ["int ", "int *", "const Set& ", "std::pair<int, Set> *"])
def test_a_function_of_the_program_is_left_alone(result: str) -> None:
    source = f"#include <set>\n__device__ {result}__popc(Set a);\nx = __popc(a) - b;\n"
    assert "(int)" not in ENGINE.translate(source, filename="a.cuh").source


@pytest.mark.amd
def test_results_are_those_of_cuda() -> None:
    # 4 bits - 20; (8 - 20) / 2; the fifth bit - 20; 9 is no less than -1;
    # 0xffffff * 0xf000 = 0xefff_ff1000: its low word is 0xffff1000, halved; (4 - 20) / 2;
    # the first bits of 0xff00, 0xf0, -8, and -2^40: 9 + 5 + 4 + 41.
    assert output_of(PROGRAM)["counts"] == "-16 -6 -15 0 2147452928 -8 59"
