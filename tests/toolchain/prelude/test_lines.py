"""Where a source file can be divided behind what it includes first."""

from __future__ import annotations

import pytest

from cass_ray.toolchain.prelude.lines import beginnings


def lines(text: str) -> list[int]:
    return [each.lines for each in beginnings(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("int x;\n#include <a>\n", []),
        ("#include <a>\n#include <b>\nint x;\n#include <c>\n", [1, 2]),
        ("#include <a>", [1]),
        ("#include <a>\r\n\r\n#include <b>\r\nint x;\r\n", [1, 3]),
        ("/* a\n * licence */ // and more\n\n#include <a>\n", [4]),
        ("/* int x; */ #include <a> // why\n#include <b> /* it\n goes on */\nint x;\n", [1, 3]),
        ("#include <a> /* open\n", []),
        ("// #include <a>\n#include <b>\n", [2]),
        ("/* */ int x; /*\n#include <a>\n*/", []),
        ("#define A 1\n#undef A\n#include <a>\n", [3]),
        ('#define URL "http://a/*"\n#include <a>\n', [2]),
        ("#define QUOTE '\"' // \"\n#include <a>\n", [2]),
        ("#define LONG \\\n  int x; \\\n  int y\n#include <a>\n", [4]),
        ("#ifdef A\n#include <a>\n#else\n#include <b>\n#endif\n#include <c>\n", [6]),
        ("#ifndef GUARD\n#define GUARD\n#include <a>\n#endif\n", []),
        ("#if A\n#if B\n#endif\n#include <a>\n#endif\n#include <b>\nint x;", [6]),
        ("#if A\nint x;\n#endif\n#include <a>\n", []),
        ("#endif\n#include <a>\n", []),
        ("#pragma once\n#include <a>\n", []),
        ("#include <a>\n#pragma pack(1)\n#include <b>\n", [1]),
        ("#include <a>\n#error no\n#include <b>\n", [1]),
        ("#include <a>\n#line 7\n#include <b>\n", [1]),
        ('#include <a>\nextern "C" {\n#include <b>\n}\n', [1]),
        ("  #  include <a>\n#\n#include_next <b>\n#include <c>\n", [1]),
        ("%:include <a>\n#include <b>\n", []),
        ("\\\n#include <a>\n", [2]),
        ("#inc\\\nlude <a>\n", [2]),
    ],
)
def test_where_a_file_can_be_divided(text: str, expected: list[int]) -> None:
    assert lines(text) == expected


def test_comments_and_places_of_lines_make_no_difference() -> None:
    first = beginnings(
        "// one\n\n#include <a> // why\n#define B /* two */ 2\n#include <b>\nint x;\n"
    )
    second = beginnings("#include <a>\n/*\n*/ #define B   2\n#include <b>\nint y;\n")
    assert first[0].directives == second[0].directives == "#include <a>\n"
    assert first[1].directives.split() == second[1].directives.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#include <a>\n", False),
        ('#include "a"\n', True),
        ("#include A\n", True),
        ('#if 1\n#include "a"\n#endif\n#include <b>\n', True),
        ('#include <a>\n#include "b"\n', True),
    ],
)
def test_what_is_looked_for_beside_the_file(text: str, expected: bool) -> None:
    assert beginnings(text)[-1].searched_beside is expected
