"""Functions that end without their value: clang's own warning is what is compared with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.defects import missing_returns

ENDS = {
    "plain": "int f(int a) { g(a); }",
    "loop": "int f(int a) { for (int i = 0; i < a; ++i) if (i > 3) return i; }",
    "broken": "int f(int a) { while (true) { if (a) break; a = g(a); } }",
    "branch": "int f(int a) { if (a) return 1; else g(a); }",
    "cases": "int f(int a) { switch (a) { case 1: g(a); break; } }",
    "pointer": "int* f(int* a) { a = 0; }",
    "member": "struct S { int v; S& operator=(const S& o) { v = o.v; } };",
    "template": "template <class T> int f(T a) { g(a); }",
}
RETURNS = {
    "plain": "int f(int a) { return a; }",
    "nothing": "void f(int a) { g(a); }",
    "endless": "int f(int a) { while (true) { for (;;) break; if (g(a)) return a; } }",
    "both": "int f(int a) { if (a) { return 1; } else { abort(); } }",
    "fails": 'int f(int a) { if (a) return 1; assert(!"never"); }',
    "thrown": "int f(int a) { if (a) return 1; throw a; }",
    "cases": "int f(int a) { switch (a) { case 1: return 1; default: return 2; } }",
    "lambda": "int f(int a) { auto h = [](int b) { g(b); }; h(a); return a; }",
    "enabled": "template <class T> typename std::enable_if<sizeof(T) == 4>::type f(T a) { g(a); }",
    "constructor": "struct S { int v; explicit S(int a) : v(a) { g(a); } ~S() { g(v); } };",
    "main": "int main() { g(1); }",
    "macro": "#define API\nAPI void f(int a) { g(a); }",
}
HEAD = """#include <cassert>
#include <cstdlib>
#include <type_traits>
int g(int a);
"""


def _clang_warns(source: str, folder: Path) -> bool:
    (folder / "a.cpp").write_text(source)
    command = [
        str(find_amd().clang),
        "-fsyntax-only",
        "-std=c++17",
        "-UNDEBUG",
        "-x",
        "c++",
        "a.cpp",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return "-Wreturn-type" in done.stderr


@pytest.mark.parametrize("kind", ENDS)
def test_what_clang_warns_of_is_found(kind: str, tmp_path: Path) -> None:
    source = HEAD + ENDS[kind] + "\n"
    assert _clang_warns(source, tmp_path) or kind == "template"  # not instantiated
    (found,) = missing_returns(source)
    assert found.line == source[: source.index(ENDS[kind])].count("\n") + 1
    assert "without a return" in found.message


@pytest.mark.parametrize("kind", RETURNS)
def test_others_are_left_alone(kind: str, tmp_path: Path) -> None:
    source = HEAD + RETURNS[kind] + "\n"
    if kind != "fails":  # clang does not know what !"never" is to say
        assert not _clang_warns(source, tmp_path)
    assert missing_returns(source) == ()
