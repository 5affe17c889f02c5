"""The repair loop, with a compiler that says what clang says."""

from __future__ import annotations

import pytest

from cass_ray.translate.repair.loop import diagnostics, repair


def test_errors_are_read_with_their_notes() -> None:
    text = "a.cu:3:5: error: bad\n  note text\na.cu:9:1: fatal error: worse\nx: warning: y\n"
    first, second = diagnostics(text)
    assert (first.file, first.line, first.column, first.message) == ("a.cu", 3, 5, "bad")
    assert "note text" in first.notes
    assert second.line == 9


@pytest.mark.parametrize(
    ("source", "message", "fixed"),
    [
        (
            "#include <x.h>\nint main() { gettimeofday(&t, 0); }\n",
            "a.cu:2:14: error: use of undeclared identifier 'gettimeofday'",
            "#include <sys/time.h>\n#include <x.h>\nint main() { gettimeofday(&t, 0); }\n",
        ),
        (
            "f(a, &p, n);",
            "a.cu:1:1: error: no matching function for call to 'f'\n"
            "h.h:1:1: note: candidate function not viable: no known conversion from 'float **' to"
            " 'void **' for 2nd argument",
            "f(a, (void**)(&p), n);",
        ),
        (
            "T::type x;",
            "a.cu:1:1: error: missing 'typename' prior to dependent type name 'T::type'",
            "typename T::type x;",
        ),
        (
            "  p->run<kind>(t);",
            "a.cu:1:6: error: missing 'template' keyword prior to dependent template name 'run'",
            "  p->template run<kind>(t);",
        ),
        (
            "int a[] = {n * 2.5, 1};",
            "a.cu:1:12: error: non-constant-expression cannot be narrowed from type 'double' to"
            " 'int' in initializer list",
            "int a[] = {static_cast<int>(n * 2.5), 1};",
        ),
        (
            "x = min(a, b);",
            "a.cu:1:5: error: call to 'min' is ambiguous",
            "x = min((decltype((a) + (b)))(a), (decltype((a) + (b)))(b));",
        ),
        (
            "template<> inline __device__ float f(int i) { return i; }",
            "a.cu:1:37: error: no function template matches function template specialization 'f'\n"
            "a.h:1:1: note: candidate template ignored: target attributes do not match",
            "template<> inline __host__ __device__ float f(int i) { return i; }",
        ),
        # arrayfire: a template of a macro's sides, a specialization that names none.
        (
            "template<> inline auto f<C>(const C& i) -> bool { return i.x; }",
            "a.cu:1:24: error: no function template matches function template specialization 'f'\n"
            "a.h:1:1: note: candidate template ignored: target attributes do not match",
            "template<> __host__ __device__ inline auto f<C>(const C& i) -> bool { return i.x; }",
        ),
        (
            'printf("%"PRId64, a);',
            "a.cu:1:11: error: invalid suffix on literal; C++11 requires a space between literal"
            " and identifier [-Wreserved-user-defined-literal]",
            'printf("%" PRId64, a);',
        ),
        (
            "template <class T> __device__ T f(T x);\n"
            "template <> __host__ __device__ int f(int x);\n"
            "template <> __host__ __device__ char f(char x);",
            "a.cu:2:37: error: no function template matches function template specialization 'f'\n"
            "a.cu:1:33: note: candidate template ignored: target attributes do not match\n"
            "a.cu:3:38: error: no function template matches function template specialization 'f'\n"
            "a.cu:1:33: note: candidate template ignored: target attributes do not match",
            "template <class T> __host__ __device__ T f(T x);\n"
            "template <> __host__ __device__ int f(int x);\n"
            "template <> __host__ __device__ char f(char x);",
        ),
        (
            'extern "C"__global__ void k() {}',
            "a.cu:1:11: error: string literal with user-defined suffix cannot be used here",
            'extern "C" __global__ void k() {}',
        ),
        (
            "return a.template f(3);",
            "a.cu:1:19: error: a template argument list is expected after a name prefixed by the"
            " template keyword [-Wmissing-template-arg-list-after-template-kw]",
            "return a.template f<>(3);",
        ),
        (
            "template <class T> int C<T>::f(int a, int b = g(1, 2)) { return a; }",
            "a.cu:1:39: error: default arguments cannot be added to an out-of-line definition of a"
            " member of a class template",
            "template <class T> int C<T>::f(int a, int b /* = g(1, 2) */) { return a; }",
        ),
        (
            "int a;\nD T atomicCAS(T* p, T a, T b) { if (a) {} return f(p); }\nint b;\n",
            "a.cu:2:5: error: redefinition of 'atomicCAS'\n"
            "/r/include/hip/amd_detail/amd_hip_atomic.h:9:1: note: previous definition is here",
            "int a;\n\n#ifndef __HIP_PLATFORM_AMD__  // HIP has it\n"
            "D T atomicCAS(T* p, T a, T b) { if (a) {} return f(p); }\n#endif\n\nint b;\n",
        ),
        (
            "__shared__ Z s[4][n + 1]; s[0][0] = 1;",
            "a.cu:1:14: error: initialization is not supported for __shared__ variables",
            "alignas(Z) __shared__ unsigned char cass_memory_of_s[sizeof(Z[4][n + 1])]; "
            "Z (&s)[4][n + 1] = reinterpret_cast<Z (&)[4][n + 1]>(cass_memory_of_s); s[0][0] = 1;",
        ),
        (
            "__shared__ __align__(256) Z s[k * 2];",
            "a.cu:1:29: error: initialization is not supported for __shared__ variables",
            "alignas(Z) __align__(256) __shared__ unsigned char "
            "cass_memory_of_s[sizeof(Z[k * 2])]; "
            "Z (&s)[k * 2] = reinterpret_cast<Z (&)[k * 2]>(cass_memory_of_s);",
        ),
        (
            "{ __shared__ a::V<float, 4> w ; }",
            "a.cu:1:29: error: initialization is not supported for __shared__ variables",
            "{ alignas(a::V<float, 4>) __shared__ unsigned char "
            "cass_memory_of_w[sizeof(a::V<float, 4>)]; "
            "a::V<float, 4> &w = reinterpret_cast<a::V<float, 4> (&)>(cass_memory_of_w); }",
        ),
        (
            "template <int k> float C<k>::f() { return decode(x[0]); }",
            "a.cu:1:43: error: explicit qualification required to use member 'decode' from"
            " dependent base class",
            "template <int k> float C<k>::f() { return this->decode(x[0]); }",
        ),
        (
            "enum { A = 5, B = ((-1 << A) & 31) << 8, C = -2 << (A + 1) };",
            "a.cu:1:19: error: expression is not an integral constant expression\n"
            "a.cu:1:24: note: left shift of negative value -1\n"
            "a.cu:1:46: error: expression is not an integral constant expression\n"
            "a.cu:1:49: note: left shift of negative value -2",
            "enum { A = 5, B = ((-(1 << A)) & 31) << 8, C = -(2 << (A + 1)) };",
        ),
    ],
)
def test_fixes(source: str, message: str, fixed: str) -> None:
    result = repair(
        source, lambda text: "" if text == fixed else message, filename="a.cu", attempts=3
    )
    assert result.source == fixed
    assert result.compiles
    assert len(result.steps) == 1


def test_what_no_rule_knows_ends_the_loop() -> None:
    calls: list[str] = []

    def compile_source(text: str) -> str:
        calls.append(text)
        return "a.cu:1:1: error: expected unqualified-id"

    result = repair("x", compile_source, filename="a.cu", attempts=5)
    assert (result.source, result.compiles, calls) == ("x", False, ["x"])


def test_the_best_state_is_kept() -> None:
    def compile_source(text: str) -> str:
        if "cstdio" in text:
            return "a.cu:1:1: error: worse\na.cu:1:1: error: still worse"
        return "a.cu:2:1: error: use of undeclared identifier 'printf'"

    result = repair("\nprintf();", compile_source, filename="a.cu", attempts=2)
    assert result.source == "\nprintf();"
    assert not result.compiles


def test_errors_in_other_files_are_not_touched() -> None:
    message = "inc/b.h:1:1: error: use of undeclared identifier 'printf'"
    result = repair("x", lambda _: message, filename="a.cu", attempts=2)
    assert result.source == "x"
