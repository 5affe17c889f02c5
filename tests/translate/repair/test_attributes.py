"""Declarations that nvcc 13 joins (its warnings 20037 and 20040); the messages are clang 19's."""

from __future__ import annotations

import pytest

from cass_ray.translate.repair.loop import apply_fixes, at_declarations, diagnostics

BOTH = "__host__ __device__"


def mended(source: str, log: str, file: str = "a.h") -> str:
    errors = diagnostics(log)
    items = [*errors, *at_declarations(errors)]
    return apply_fixes(source, [each for each in items if each.file == file])[0]


def place(source: str, name: str) -> str:
    before = source[: source.index(name)]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int S::@f() { return 1; }", "B int S::f() { return 1; }"),
        ("int x;\nS::@S() {}", "int x;\nB S::S() {}"),
        ("template <class T> T V<T>::@f(T x) { }", "template <class T> B T V<T>::f(T x) { }"),
        (
            "template <class T, class U = A<T>>\ntemplate <int N>\nV<T>& V<T>::@operator+=(T) {}",
            "template <class T, class U = A<T>>\ntemplate <int N>\nB V<T>& V<T>::operator+=(T) {}",
        ),
        ("#include <a>\ninline int @f(int x) {}", "#include <a>\nB inline int f(int x) {}"),
        ("__device__ int @f(int) {}", "__host__ __device__ int f(int) {}"),
        ("void g() {}\nint S::@f() {}", "void g() {}\nB int S::f() {}"),
    ],
)
def test_a_definition_takes_the_sides_of_its_declaration(before: str, after: str) -> None:
    here = place(before, "@")
    source = before.replace("@", "")
    kind = "__device__" if "__device__" in source else "__host__"
    log = (
        f"a.cu:{here}: error: {kind} function 'f' cannot overload {BOTH} function 'f'\n"
        "a.h:2:36: note: previous declaration is here\n"
    )
    assert mended(source, log, "a.cu") == after.replace("B ", f"{BOTH} ")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("struct S { int @h(); };", "struct S { B int h(); };"),
        ("struct S {\n public:\n  int @h();\n};", "struct S {\n public:\n  B int h();\n};"),
        ("struct S { int a; T @h() const; };", "struct S { int a; B T h() const; };"),
        ("template <class T> T @h(T);", "template <class T> B T h(T);"),
        ("class C {\nprivate: static int @h(int);\n};", None),
    ],
)
def test_a_declaration_takes_the_sides_of_its_definition(before: str, after: str | None) -> None:
    here = place(before, "@")
    source = before.replace("@", "")
    log = (
        f"a.cu:9:9: error: {BOTH} function 'h' cannot overload __host__ function 'h'\n"
        f"a.h:{here}: note: previous declaration is here\n"
    )
    expected = after or f"class C {{\nprivate: {BOTH} static int h(int);\n}};"
    assert mended(source, log) == expected.replace("B ", f"{BOTH} ")


def test_two_errors_about_one_declaration_change_it_once() -> None:
    source = "struct S { int h(); };"
    error = (
        f"a.cu:{{}}:9: error: {BOTH} function 'h' cannot overload __host__ function 'h'\n"
        "a.h:1:16: note: previous declaration is here\n"
    )
    assert mended(source, error.format(3) + error.format(7)) == f"struct S {{ {BOTH} int h(); }};"


def test_a_template_without_sides_and_its_specializations_of_a_macro() -> None:
    """cutf: ``template <class T> T abs(const T a);``, specialized for devices."""
    source = (
        "template <class T> T abs(const T a);\n"
        "template <> FUNC inline int abs<int>(const int a) { return a; }\n"
        "template <> FUNC inline long abs<long>(const long a) { return a; }\n"
    )
    error = (
        "a.h:{}: error: no function template matches function template specialization 'abs'\n"
        "a.h:1:22: note: candidate template ignored: target attributes do not match\n"
    )
    assert mended(source, error.format("2:29") + error.format("3:30")) == (
        f"template <class T> {BOTH} T abs(const T a);\n"
        f"template <> {BOTH} FUNC inline int abs<int>(const int a) {{ return a; }}\n"
        f"template <> {BOTH} FUNC inline long abs<long>(const long a) {{ return a; }}\n"
    )


@pytest.mark.parametrize(
    "template",
    ["template <class T> HOST_DEVICE T f(T x);", "template <class T> __host__ T f(T x);"],
)
def test_a_template_that_says_its_sides_keeps_them(template: str) -> None:
    log = (
        "a.cu:9:29: error: no function template matches function template specialization 'f'\n"
        f"a.h:{place(template, 'f(T')}: note: candidate template ignored: target attributes do not"
        " match\n"
    )
    assert mended(template, log) == template
