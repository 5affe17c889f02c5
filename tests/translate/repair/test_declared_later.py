"""Functions that templates call before they are declared; what clang says is clang 19's."""

from __future__ import annotations

import pytest

from cass_ray.translate.repair.loop import apply_fixes, diagnostics

CALLER = "template <typename T> void run(T* x) {\n  if (x) { x[0] = twice(x[0]); }\n}\n"
LATER = "struct S { int a; };\n#define OF 1\ntemplate <typename T>\ninline T\ntwice(const T& x)"
BODY = " { return x + x; }\n"


def mended(source: str) -> str:
    call, declared = source.index("twice"), source.index("\ntwice") + 1
    lines = [source.count("\n", 0, place) + 1 for place in (call, declared)]
    column = call - source.rfind("\n", 0, call)
    said = (
        f"a.h:{lines[0]}:{column}: error: call to function 'twice' that is neither visible in the"
        " template definition nor found by argument-dependent lookup\n"
        f"a.h:{lines[1]}:1: note: 'twice' should be declared prior to the call site\n"
    )
    return apply_fixes(source, diagnostics(said))[0]


@pytest.mark.parametrize(("opens", "closes"), [("", ""), ("namespace n {\n", "}\n")])
def test_it_is_declared_before_the_template(opens: str, closes: str) -> None:
    source = f"int a;\n{opens}{CALLER}{LATER}{BODY}{closes}"
    declaration = "template <typename T>\ninline T\ntwice(const T& x);\n"
    assert mended(source) == f"int a;\n{opens}{declaration}{CALLER}{LATER}{BODY}{closes}"


@pytest.mark.parametrize(
    "source",
    [
        f"{CALLER}namespace n {{\n{LATER}{BODY}}}\n",
        f"{CALLER}{LATER.replace('x)', 'x = T())')}{BODY}",
        f"{CALLER}{LATER}{BODY}int twice(int x, int y = 1) {{ return x + y; }}\n",
    ],
    ids=["another scope", "a default", "an overload"],
)
def test_what_may_mean_another_function_stays(source: str) -> None:
    assert mended(source) == source
