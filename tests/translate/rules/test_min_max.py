"""``min`` and ``max`` of two types; expected values: C's common type, by hand."""

from __future__ import annotations

import pytest

from cass_ray.translate.declared import declared_names
from cass_ray.translate.protocol import Context
from cass_ray.translate.rules import RulesTranslator
from tests.translate.programs import output_of

ENGINE = RulesTranslator()

DECLARED = """
__device__ int a, b; __device__ unsigned u, v; __device__ short s[4];
__device__ float x, y[4]; __device__ size_t wide;
"""

PROGRAM = r"""
#include <cstdio>
#include <limits>

struct Pair { int first; float second; };

template <typename T>
__device__ T larger(T a, T b) { return max(a, b); }

struct Half {  // as c10::Half
  float value;
  __host__ __device__ Half(float v) : value(v) {}
  __host__ __device__ operator float() const { return value; }
};

template <typename scalar_t>
__device__ double at_least(scalar_t x) { return min(max(x, 0.1), 7.0 - 4.5); }

__global__ void extremes(long long* out, short small, int n, unsigned u, long long wide,
                         Pair pair) {
  out[0] = max(small, n) % 4;
  out[1] = min(n, u);
  out[2] = max(-1, u) >> 28;
  out[3] = min(wide + 1, n * 0LL + 9007199254740993LL);
  out[4] = max(wide, n);
  out[5] = (long long)larger(pair.second, 1.5f);
  out[6] = (long long)max(pair.second, pair.second);
  out[7] = min(blockDim.x, n + 40);
  out[8] = max(pair.first, u) / 2;
  out[9] = (long long)(100 * at_least(Half(-1.0f)));
  out[10] = (long long)(100 * at_least(Half(9.0f)));
  out[11] = (long long)(100 * at_least(2.0f));
}

int main() {
  long long *device, host[12];
  int few = 3; size_t many = 7;
  cudaMalloc(&device, sizeof host);
  extremes<<<1, 32>>>(device, -3, -7, 5u, 9007199254740993LL, Pair{-2, 4.5f});
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("extremes:");
  for (long long value : host) printf(" %lld", value);
  printf(" %zu\n", max(few, many));
}
"""


@pytest.mark.parametrize(
    ("cuda", "mixed"),
    [
        ("a = max(a, b);", False),
        ("a = max(a * 2, b - (a + 1));", False),
        ("u = min(threadIdx.x, u + 1u);", False),
        ("x = max(x, y[a]);", False),
        ("x = max(unknown, 0.5f);", False),
        ("a = std::max(a, u);", False),
        ("a = limits.max(a, u);", False),
        ("a = max(a, u);", True),
        ("a = min(a, s[b]);", True),
        ("a = max(s[a], s[b]);", True),
        ("a = min(blockDim.x, a);", True),
        ("a = min(a, (int)wide);", False),
        ("a = min(unknown(a), b);", True),
        ("a = max(b - (int)x, s[a]);", True),
        ("a = max((int)fmod(x, 1.0), s[a]);", True),
        ("a = max((int)(x + (a)) / 2, b);", False),
        ("x = max((float)a, x);", False),
        ("scalar_t z; x = max(z, 0.5);", True),
        ("scalar_t z; x = max(y[a], 0.5f);", False),
    ],
)
def test_only_what_may_mix_is_changed(cuda: str, mixed: bool) -> None:
    text = ENGINE.translate(f"{DECLARED}__global__ void k() {{ {cuda} }}", filename="a.cu").source
    assert ("cass::mixed_m" in text.split("__global__")[-1]) is mixed
    assert mixed or cuda in text


def test_a_function_of_the_program_is_left_alone() -> None:
    source = "__device__ int max(Set a, Set b);\n__device__ void f() { x = max(a, b); }\n"
    assert "cass" not in ENGINE.translate(source, filename="a.cuh").source


@pytest.mark.amd
def test_results_are_those_of_cuda() -> None:
    # max(-3, -7) % 4; min(2^32 - 7, 5); (2^32 - 1) >> 28; 2^53 + 1 is no double;
    # max(4.5, 1.5); min(32, 33); (2^32 - 2) / 2; 100 times 0.1, 2.5 and 2; max(3, 7).
    expected = "-3 5 15 9007199254740993 9007199254740993 4 4 32 2147483647 10 250 200 7"
    assert output_of(PROGRAM)["extremes"] == expected


def test_a_function_of_the_project_for_vectors_is_found_from_where_it_is_called() -> None:
    header = "namespace own {\ninline __device__ float3 max(float3 a, const float3& b);\n}\n"
    declared = declared_names([header])
    assert declared == {"max"}
    assert not declared_names(
        ["int m = max(a, b); float f = max(float a, b); int max(int a, int b);"]
    )
    source = "__global__ void k(int n, unsigned u) { p = max(point, box.lower); i = max(n, u); }\n"
    text = ENGINE.translate(source, filename="a.cu", context=Context(declared=declared)).source
    assert "p = max(point, box.lower); i = cass::mixed_max(n, u);" in text


HOST = r"""
#include <cuda_runtime.h>
#include <cstdio>
template <typename T> __host__ __device__ T least(T a, T b) { return ::min(a, b); }
__global__ void k(float* p) { p[0] = least(p[0], p[1]); }
int main(int count, char**) {
  float a = 1.5f * count, b = 2.75f * count;
  double wide = 1e30 * count;
  unsigned u = 4000000000u * count;
  printf("floats: %g %g %g\n", min(a, b), max(a, b), least(a, b));
  printf("doubles: %g %g\n", min(wide, 2.5), max(a, wide));
  printf("integers: %lld %u %u\n", max(5000000000ll * count, 3ll), max(u, 1u), min(-1 * count, u));
}
"""


@pytest.mark.amd
def test_the_hosts_are_of_their_arguments_types() -> None:
    assert output_of(HOST) == {
        "floats": "1.5 2.75 1.5",
        "doubles": "2.5 1e+30",
        # -1 as unsigned is above 4000000000.
        "integers": "5000000000 4000000000 4000000000",
    }


def test_hosts_of_int_alone_need_nothing() -> None:
    assert "CASS" not in ENGINE.translate("int f(int a) { return min(a, 3); }\n").source
    assert "CASS" not in ENGINE.translate("float f(float a) { return std::min(a, a); }\n").source


PLAIN = "#include <algorithm>\nusing std::min;\nlong least(long a, long b) { return min(a, b); }\n"


@pytest.mark.parametrize(
    ("filename", "more", "brings"),
    [
        # A host's compiler has no path to HIP's headers.
        ("logging.cc", "", False),
        ("logging.cpp", "", False),
        ("logging.cxx", "int barracuda;", False),
        ("logging.cpp", "// like cudaMalloc", False),
        ("logging.cpp", "#include <cuda_runtime.h>", True),
        ("logging.cpp", "#ifdef __CUDACC__\n#endif", True),
        ("logging.cc", "__global__ void k();", True),
        ("logging.cu", "", True),
    ],
)
def test_a_file_of_the_hosts_alone_stays_as_it_is(filename: str, more: str, brings: bool) -> None:
    source = f"{more}\n{PLAIN}"
    translated = ENGINE.translate(source, filename=filename).source
    assert ("hip_runtime.h" in translated) == brings
    assert (translated == source) == (not brings)


@pytest.mark.parametrize("filename", ["least.h", "least.hpp", "least.hh"])
def test_a_header_brings_hips_runtime_to_hips_compiler_alone(filename: str) -> None:
    """Sources of the host include it as well."""
    translated = ENGINE.translate(f"#pragma once\n{PLAIN}", filename=filename).source
    before, _, behind = translated.partition("#include <hip/hip_runtime.h>\n")
    assert before.endswith("#ifdef __HIPCC__\n")
    assert behind.startswith("#endif\n")
    assert "static inline float min(float a, float b)" in behind
