import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cass_ray.corpus.parsing.lexer import (
    TokenKind,
    significant_tokens,
    splice_lines,
    tokens,
    words_and_comments,
)
from cass_ray.corpus.parsing.normalize import normalize, program_id, source_digest, strip_comments

FRAGMENTS = [
    "int", " ", "\n", "\t", "\\\n", "\\ \n", "\\", "#define F(x) x\n", "#define G (x)\n", "#",
    "# include <a//b.h>\n", '#include "c.h"\n', "//", "/*", "*/", '"', "'", 'R"(', ')"', 'R"x(',
    ')x"', "u8", "L", "0x1p-3", "1'000", ".5", "<<<", ">>>", "a", "b_1", "(", ")", "+", "\\n",
    "\r\n", "\f", "é", "%:", "{", "}", ";", "define", "\\\"",
]  # fmt: skip
SOURCES = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)
LITERALS = st.one_of(
    st.from_regex(r'"([^"\\\n\r]|\\["\\nt])*"', fullmatch=True),
    st.sampled_from(['R"(// not /* a " comment)"', 'R"x(\\\n)")x"', "'\"'", "'//'", 'u8"/*"']),
)


@given(SOURCES)
def test_normalize_is_idempotent(source: str) -> None:
    once = normalize(source)
    assert normalize(once) == once


@given(SOURCES)
def test_tokens_cover_the_spliced_text(source: str) -> None:
    spliced = splice_lines(source)
    found = list(tokens(source))
    assert "".join(token.text for token in found) == spliced
    assert all(spliced.startswith(token.text, token.start) for token in found)


@given(SOURCES)
def test_significant_tokens_are_the_others(source: str) -> None:
    layout = (TokenKind.SPACE, TokenKind.COMMENT)
    assert list(significant_tokens(source)) == [t for t in tokens(source) if t.kind not in layout]


@given(SOURCES)
def test_words_and_comments_are_those_of_the_tokens(source: str) -> None:
    kinds = (TokenKind.IDENTIFIER, TokenKind.COMMENT)
    expected = [token.text for token in tokens(source) if token.kind in kinds]
    assert list(words_and_comments(source)) == expected


@pytest.mark.parametrize(
    "source",
    ['int\\\nR"(\\\nint', '"a\\\\\n" R"(\\\n" x', '1\'\\\n0 R"(\\\n)"'],
)
def test_raw_strings_beside_continued_lines(source: str) -> None:
    assert normalize(normalize(source)) == normalize(source)


@given(st.text(max_size=60))
def test_any_text_is_normalized(source: str) -> None:
    assert normalize(normalize(source)) == normalize(source)


@given(LITERALS, st.lists(st.sampled_from(["/* it's */", '// "x\n', "\n", " "]), max_size=4))
def test_removing_comments_never_changes_literals(literal: str, layout: list[str]) -> None:
    around = "".join(layout)
    source = f'{around} x = {literal} /* "y */ ;{around}'
    kinds = (TokenKind.STRING, TokenKind.RAW_STRING, TokenKind.CHARACTER)
    for text in (source, strip_comments(source), normalize(source)):
        assert [token.text for token in tokens(text) if token.kind in kinds] == [literal]


@example("\\\\\n\nint")
@example("'\\\\\n\n")
@given(SOURCES)
def test_stripping_comments_keeps_the_program(source: str) -> None:
    assert normalize(strip_comments(source)) == normalize(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int  a ; // c\nint b;", "int a ; int b ;"),
        ("a/**/b", "a b"),
        ('s = "// no comment";', 's = "// no comment" ;'),
        ("c = '\"'; // \"", "c = '\"' ;"),
        ("#define F(x) x\nF(1)", "# define F( x ) x\nF ( 1 )"),
        ("#define F (x)\nF", "# define F ( x )\nF"),
        ("#  include   <a//b.h> // c\n", "#include <a//b.h>"),
        ("#if A \\\n && B\nx", "# if A && B\nx"),
        ("// c \\\n still comment\nx", "x"),
        ("/* c */ # define A\nb", "# define A\nb"),
        ("k<<<1, 2>>>();", "k <<< 1 , 2 >>> ( ) ;"),
        ("n = 1'000'000; // '", "n = 1'000'000 ;"),
        ('R"x(a\n// b)" \\\n)x" c', 'R"x(a\n// b)" \\\n)x" c'),
        ("in\\\nt x;", "int x ;"),
        ("/* unterminated", ""),
        ("#error don't\nx // y", "# error don 't\nx"),
    ],
)
def test_normalize_by_hand(source: str, expected: str) -> None:
    assert normalize(source) == expected


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize(
    ("flags", "source"),
    [
        (
            ["-fpreprocessed", "-dD"],
            'auto a = R"(// " /* )"; /* " */ int b; // \'\n#define C(x) /* y */ x // z\nint d;\n',
        ),
        ([], "int a; // split \\\ncomment\nchar b = '\\''; /* multi\nline */ int c = 1'0; // '\n"),
        (
            ["-fpreprocessed", "-dD"],
            '#define S "a\\"b" /* // */\n#define T(x, y) x##y\n#if 0 /* ? */\nint z;\n#endif\n',
        ),
        ([], "/\\\n* c */ int x; /\\\n/ comment\nint y = 1 / *&x;\n"),
    ],
)
def test_gcc_removes_the_same_comments(flags: list[str], source: str) -> None:
    # GCC keeps directives, and line continuations, of text it takes for preprocessed.
    command = ["g++", *flags, "-E", "-P", "-x", "c++", "-std=c++17", "-"]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    assert normalize(result.stdout) == normalize(source)


def test_lexing_is_linear_in_hostile_input() -> None:
    hostile = ['R"(' * 20_000, '"\\"' * 20_000, "'\\'" * 20_000, "/*" * 20_000, "\\\n" * 20_000]
    for text in hostile:
        assert sum(len(token.text) for token in tokens(text)) == len(splice_lines(text))


def test_identity_ignores_layout_and_order_of_includes_only() -> None:
    main = source_digest("int a; /* x */")
    assert main == source_digest("int\n a;")
    assert main != source_digest("int b;")
    first, second = source_digest("1"), source_digest("2")
    assert program_id(main, [first, second]) == program_id(main, [second, first, first])
    assert program_id(main, [first]) != program_id(main, [])
    assert program_id(main, [first]) != program_id(first, [main])
