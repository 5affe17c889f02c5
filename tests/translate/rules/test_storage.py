"""``register`` goes where hipcc compiles; C++17, section C.4.2 , has it no more."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator


@pytest.mark.parametrize(
    ("filename", "source", "expected"),
    [
        ("a.cuh", "void f() { register float x = 0; }\n", "void f() { float x = 0; }\n"),
        ("a.cuh", "void f(register int  a);\n", "void f(int  a);\n"),
        ("a.h", "for (register\tint i = 0;;) ;\n", "for (int i = 0;;) ;\n"),
        ("a.hpp", "#define FAST register\n", "#define FAST \n"),
        ("a.cuh", 'register long a asm("rax");\n', 'register long a asm("rax");\n'),
        ("a.cuh", "// register\nint register_count;\n", "// register\nint register_count;\n"),
        ("a.c", "register int i;\n", "register int i;\n"),
        ("a.cpp", "register int i;\n", "register int i;\n"),
    ],
)
def test_register(filename: str, source: str, expected: str) -> None:
    assert RulesTranslator().translate(source, filename=filename).source == expected


@pytest.mark.parametrize(
    ("written", "moved"),
    [
        ("__device__ [[nodiscard]] int f();", "[[nodiscard]] __device__ int f();"),
        (
            'static __host__ __device__ [[deprecated("why")]] inline int f();',
            '[[deprecated("why")]] static __host__ __device__ inline int f();',
        ),
        ("[[nodiscard]] __device__ int f();", "[[nodiscard]] __device__ int f();"),
        ("static [[nodiscard]] int f();", "static [[nodiscard]] int f();"),
        (
            "__device__ int f(int x) { return a[b[x]]; }",
            "__device__ int f(int x) { return a[b[x]]; }",
        ),
    ],
)
def test_lists_of_attributes_go_before_the_words_of_sides(written: str, moved: str) -> None:
    assert moved in RulesTranslator().translate(written, filename="a.cuh").source


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("extern __shared__ float a[N * 2];", "extern __shared__ float a[];"),
        ("extern __shared__ unsigned char a[64];", "extern __shared__ unsigned char a[];"),
        ("extern __shared__ __align__(16) T a[4][8];", "extern __shared__ __align__(16) T a[][8];"),
        ("extern __shared__ int a[];", "extern __shared__ int a[];"),
        ("__shared__ int a[64];", "__shared__ int a[64];"),
    ],
)
def test_memory_that_a_launch_sizes_has_no_size(written: str, made: str) -> None:
    source = f"template <class T> __global__ void k(T* p) {{ {written} }}\n"
    assert made in RulesTranslator().translate(source, filename="a.cu").source
