"""The view of a source as code: comments and literals blanked, offsets kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.translate.rules.text import SourceText


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a // b\nc", "a     \nc"),
        ("a // b \\\n b\nc", "a       \n  \nc"),
        ("a /* b\n */ c", "a     \n    c"),
        ("a /* never closed", "a                "),
        ('f("x\\"y", z)', 'f("    ", z)'),
        ("f('\"', x)", "f(' ', x)"),
        ('R"(a " b)" c', 'R"       " c'),
        ('u8R"ab(x)" )ab" c', 'u8R"          " c'),
        ("#include <cuda.h> // x", "#include <      >     "),
        ('FOOR"x" y', 'FOOR" " y'),
        ("1'000'000 + 'a'", "1'000'000 + ' '"),
        ("u8'a' + 0xAB'CD", "u8' ' + 0xAB'CD"),
        ("#error can't\nint x;", "#error can'  \nint x;".replace("'  ", "' ")),
        ('"open\nint x;', '"    \nint x;'),
    ],
)
def test_only_code_is_left(text: str, code: str) -> None:
    assert SourceText(text).code == code


@given(st.text(alphabet="ab/*\"'\\\nR()u8 0x,<>#", max_size=80))
def test_code_has_the_lines_and_length_of_the_text(text: str) -> None:
    code = SourceText(text).code
    assert len(code) == len(text)
    assert [i for i, c in enumerate(text) if c == "\n"] == [
        i for i, c in enumerate(code) if c == "\n"
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f(a, b)", ["a", "b"]),
        ("f()", []),
        ("f(g(a, b), {c, d}, e[1, 2])", ["g(a, b)", "{c, d}", "e[1, 2]"]),
        ("f(k<int, 4>, x)", ["k<int, 4>", "x"]),
        ("f(k < 4, 32, false >, x)", ["k < 4, 32, false >", "x"]),
        ("f(a < 4, 32 > b, x)", ["a < 4", "32 > b", "x"]),
        ("f(a < b, c > d)", ["a < b", "c > d"]),
        ("f(a<b, c)", ["a<b", "c"]),
        ("f(p->q, v<w<int, 2>>, z)", ["p->q", "v<w<int, 2>>", "z"]),
        ("f(\",\", '(', x)", ['","', "'('", "x"]),
    ],
)
def test_arguments_of_a_call(call: str, expected: list[str]) -> None:
    source = SourceText(call)
    found = source.arguments(1)
    assert found is not None
    spans, closing = found
    assert [call[start:end] for start, end in spans] == expected
    assert closing == len(call) - 1


def test_an_open_parenthesis_has_no_arguments() -> None:
    assert SourceText("f(a, b").arguments(1) is None


def test_positions_count_from_one() -> None:
    source = SourceText("ab\ncd\n")
    assert [source.position(offset) for offset in (0, 1, 3, 4)] == [(1, 1), (1, 2), (2, 1), (2, 2)]
