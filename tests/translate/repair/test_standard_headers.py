"""Headers that a host compiler misses: what g++ itself says, and whether it compiles afterwards."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.translate.repair.loop import repair

GPP = shutil.which("g++")


@pytest.mark.skipif(GPP is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("body", "header"),
    [
        ("int f(int& a) { return std::exchange(a, 0); }", "utility"),
        ("int f(std::uint32_t a) { return a; }", "cstdint"),
        ("int f(uint8_t a) { return a; }", "cstdint"),
        ("float f() { return FLT_MAX; }", "cfloat"),
        ("int f() { return std::numeric_limits<int>::max(); }", "limits"),
        ("void f() { throw std::runtime_error(0); }", "stdexcept"),
        ("std::optional<int> f() { return 1; }", "optional"),
        ("std::mutex lock;", "mutex"),
        ("int f(const char* a) { return strlen(a); }", "cstring"),
        ("#include <utility>\nstd::array<int, 2> pair{};", "array"),
        ("std::bitset<4> flags;", "bitset"),
        ("std::variant<int, float> either;", "variant"),
        # Only GCC's note knows it.
        ("std::multimap<int, int> many; std::shared_mutex lock;", "shared_mutex"),
    ],
)
def test_what_gcc_misses_is_included(body: str, header: str, tmp_path: Path) -> None:
    def compile_source(source: str) -> str:
        file = tmp_path / "a.cpp"
        file.write_text(source)
        done = subprocess.run(
            ["g++", "-std=c++17", "-fsyntax-only", file],
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            check=False,
        )
        return done.stderr if done.returncode else ""

    source = f"#include <cstddef>\n{body}\n"
    assert compile_source(source)
    repaired = repair(source, compile_source, filename="a.cpp", attempts=4)
    assert repaired.compiles, repaired.diagnostic
    assert f"#include <{header}>\n" in repaired.source


def test_curly_quotes_of_other_locales() -> None:
    message = "a.cpp:1:12: error: ‘exchange’ is not a member of ‘std’"
    repaired = repair(
        "int b = std::exchange(a, 0);\n",
        lambda source: "" if "<utility>" in source else message,
        filename="a.cpp",
        attempts=1,
    )
    assert repaired.source == "#include <utility>\nint b = std::exchange(a, 0);\n"


def test_a_name_of_the_project_gets_no_header() -> None:
    message = "a.cpp:1:1: error: 'exchange_rate' was not declared in this scope"
    repaired = repair("exchange_rate(1);\n", lambda _: message, filename="a.cpp", attempts=2)
    assert repaired.source == "exchange_rate(1);\n"
