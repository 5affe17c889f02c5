"""Arrays of variable size with an initializer; the message and its column are clang 19's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.repair.loop import apply_fixes, diagnostics


def _mended(source: str, size: str) -> str:
    place = source.index(f"[{size}]") + 1
    line, column = source.count("\n", 0, place) + 1, place - source.rfind("\n", 0, place)
    said = f"a.cu:{line}:{column}: error: variable-sized object may not be initialized\n"
    return apply_fixes(source, diagnostics(said))[0]


@pytest.mark.parametrize(
    ("source", "size", "name", "declaration"),
    [
        ("  float sigma[n] = { 0 };\n", "n", "sigma", "  float sigma[n] ;"),
        ("int a;\nint b[2 * n]={};\n", "2 * n", "b", "int b[2 * n];"),
        ("double c[this->N] = {0.0};\n", "this->N", "c", "double c[this->N] ;"),
        ("float d[n]{};\n", "n", "d", "float d[n];"),
        ("float e[n][3] = {0.f};\n", "n", "e", "float e[n][3] ;"),
    ],
)
def test_zeros(source: str, size: str, name: str, declaration: str) -> None:
    made = _mended(source, size)
    before, _, last = source.rstrip("\n").rpartition("\n")
    assert last not in made
    element = name + "[0]" * declaration.count("[")
    check = f"static_assert(__is_trivial(__typeof__({element})));"
    expected = f"{declaration} {check} __builtin_memset({name}, 0, sizeof({name}));\n"
    assert made == (f"{before}\n" if before else "") + expected


@pytest.mark.amd
@pytest.mark.parametrize(
    ("kind", "compiles"),
    [("float", True), ("pair", True), ("std::string", False), ("counted", False)],
)
def test_objects_are_not_filled_with_zeros(kind: str, compiles: bool, tmp_path: Path) -> None:
    source = (
        "#include <string>\nstruct pair { int a, b; };\nstruct counted { int a = 7; };\n"
        f"void f(int n) {{\n  {kind} a[n][2] = {{}};\n}}\n"
    )
    (tmp_path / "a.cpp").write_text(_mended(source, "n"))
    command = [str(find_amd().clang), "-fsyntax-only", "a.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == compiles, done.stderr


def test_other_values_of_numbers_are_copied() -> None:
    made = _mended("void f(int n) {\n  unsigned char a[n] = {1,\n    x};\n}\n", "n")
    assert made == (
        "void f(int n) {\n  unsigned char a[n] ; __builtin_memset(a, 0, sizeof(a));"
        " { const unsigned char cass_values[] = {1,\n    x};"
        " __builtin_memcpy(a, cass_values, sizeof(cass_values)); }\n}\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "text a[n] = {1};\n",
        "float a[n][2] = {1, 2};\n",
        "int a[n] = {1}, b;\n",
        "std::int a[n] = {x};\n",
    ],
)
def test_values_of_objects_and_other_forms_stay(source: str) -> None:
    assert _mended(source, "n") == source


@pytest.mark.parametrize(
    ("line", "column", "said", "made"),
    [
        # Catch 2 before 2.13.5
        (
            "static constexpr std::size_t sigStackSize = 32768 >= MINSIGSTKSZ ? 1 : MINSIGSTKSZ;",
            30,
            "constexpr variable 'sigStackSize' must be initialized by a constant expression",
            "static constexpr std::size_t sigStackSize = 32768 >= 2048 ? 1 : 2048;",
        ),
        # doctest before 2.4.7
        (
            "char FatalConditionHandler::altStackMem[4 * SIGSTKSZ] = {};",
            41,
            "variable length array declaration not allowed at file scope",
            "char FatalConditionHandler::altStackMem[4 * 8192] = {};",
        ),
        (
            "static char altStackMem[SIGSTKSZ];",
            25,
            "variable length array declaration cannot have 'static' storage duration",
            "static char altStackMem[8192];",
        ),
        (
            "char FatalConditionHandler::altStackMem[SIGSTKSZ] = {};",
            6,
            "size of array 'altStackMem' is not an integral constant-expression",
            "char FatalConditionHandler::altStackMem[8192] = {};",
        ),
        ("char a[n]; int b = SIGSTKSZ;", 8, "variable length array declaration not allowed", ""),
        ("int b = SIGSTKSZ + x;", 20, "use of undeclared identifier 'x'", ""),
    ],
)
def test_stacks_of_signals_before_glibc_2_34(line: str, column: int, said: str, made: str) -> None:
    source = f"// SIGSTKSZ\n{line}\n"
    log = f"catch.hpp:2:{column}: error: {said}\n"
    assert apply_fixes(source, diagnostics(log))[0] == (f"// SIGSTKSZ\n{made or line}\n")
