"""Overloads that become one declaration; the message and its column are clang 19's."""

from __future__ import annotations

import pytest

from cass_ray.translate.repair.loop import apply_fixes, diagnostics


def mended(source: str, name: str = "add") -> str:
    place = source.rindex(name)
    line, column = source.count("\n", 0, place) + 1, place - source.rfind("\n", 0, place)
    said = f"a.h:{line}:{column}: error: class member cannot be redeclared\n"
    return apply_fixes(source, diagnostics(said))[0]


FIRST = "struct A {\n  hipGraphNode_t add(const hipKernelNodeParams& p);\n"


@pytest.mark.parametrize(
    "second",
    [
        "  hipGraphNode_t add(const hipKernelNodeParams& p);",
        "  hipGraphNode_t add(\n      const hipKernelNodeParams& p);",
        "  hipGraphNode_t add(const hipKernelNodeParams& other) noexcept;",
        "  static hipGraphNode_t add(const hipKernelNodeParams& p = hipKernelNodeParams());",
        "  [[nodiscard]] hipGraphNode_t add(const hipKernelNodeParams&);",
    ],
)
def test_the_second_declaration_goes(second: str) -> None:
    made = mended(f"{FIRST}{second}\n  int last;\n}};\n")
    assert made.split() == f"{FIRST} int last; }};".split()


def test_labels_of_access_stay() -> None:
    made = mended(f"{FIRST} private:\n  void add(const hipKernelNodeParams&);\n}};\n")
    assert made.split() == f"{FIRST} private: }};".split()


def test_a_second_body_stays() -> None:
    body = "  hipGraphNode_t add(const hipKernelNodeParams& p) { return other(p); }"
    source = f"{FIRST}{body}\n}};\n"
    assert mended(source) == source


@pytest.mark.parametrize(
    ("written", "column", "read"),
    [
        ("struct B { B::B() {} };", 15, "struct B { B() {} };"),
        ("  int A<T>::get() const;", 13, "  int get() const;"),
        ("  void n::A :: set(int m);", 16, "  void set(int m);"),
    ],
)
def test_a_member_goes_without_its_class(written: str, column: int, read: str) -> None:
    said = f"a.h:1:{column}: error: extra qualification on member 'x'\n"
    assert apply_fixes(written, diagnostics(said))[0] == read
