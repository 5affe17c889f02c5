r"""Lexer of C, C++, CUDA, HIP and OpenCL source: exact about comments, literals and directives.

Follows translation phases 1 to 3 of the C++ standard ([lex.phases]): line ends become ``\n``,
backslash-newline pairs are removed (but not inside raw strings), then the text is cut into
preprocessing tokens. Unterminated literals run to the end of their line, as in GCC. Every token
is found in time linear in the input, whatever the input is.

Known departure: a prefix of a raw string literal that is itself split by a backslash-newline
(``R\`` newline ``"(…)"``) is not recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class TokenKind(StrEnum):
    """Kind of a preprocessing token."""

    SPACE = "space"
    NEWLINE = "newline"
    COMMENT = "comment"
    INCLUDE = "include"
    """``#include <name>`` as one token: only there is ``<name>`` a header name."""
    RAW_STRING = "raw_string"
    STRING = "string"
    CHARACTER = "character"
    UNTERMINATED = "unterminated"
    """A quote without its partner, up to the end of the line."""
    NUMBER = "number"
    IDENTIFIER = "identifier"
    PUNCTUATOR = "punctuator"


class Token(NamedTuple):
    """A token; ``start`` is its offset in the spliced text (see :func:`splice_lines`)."""

    kind: TokenKind
    text: str
    start: int


_PREFIX = r"(?:u8|[uUL])?"
_SUFFIX = r"(?:_\w*)?"
_RAW_STRING = (
    _PREFIX + r'R"(?P<delimiter>[^()\\\s"]{0,16})\((?s:.*?)(?:\)(?P=delimiter)"' + _SUFFIX + r"|\Z)"
)
_STRING_BODY = r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+'
_CHARACTER_BODY = r"'[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+"

_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_INCLUDE = r"\#[ \t]*(?:include_next|include|import)[ \t]*<[^>\n]{0,1024}>"
_BLANKS = r"[ \t\f\v]++"
_SIGNIFICANT = rf"""
      (?P<newline>\n)
    | (?P<include>{_INCLUDE})
    | (?P<raw_string>{_RAW_STRING})
    | (?P<string>{_PREFIX}{_STRING_BODY}"{_SUFFIX})
    | (?P<character>{_PREFIX}{_CHARACTER_BODY}'{_SUFFIX})
    | (?P<unterminated>{_PREFIX}(?:{_STRING_BODY}|{_CHARACTER_BODY})\\?)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'?\w|\.)*)
    | (?P<identifier>[^\W\d][\w$]*|\$[\w$]*)
    | (?P<punctuator>
          <<<|>>>|<<=|>>=|<=>|\.\.\.|->\*|\#\#|%:|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\|
        | \+=|-=|\*=|/=|%=|\^=|&=|\|=|\.\*|(?s:.))
"""

_TOKEN = re.compile(rf"(?P<space>{_BLANKS})|(?P<comment>{_COMMENT})|{_SIGNIFICANT}", re.VERBOSE)
_SIGNIFICANT_TOKEN = re.compile(rf"(?:{_BLANKS}|{_COMMENT})*+(?:{_SIGNIFICANT}|\Z)", re.VERBOSE)
"""Matches at the end of the text too, so that the search never resumes inside a last comment."""

_WORD_OR_COMMENT = re.compile(
    rf"""
      (?P<comment>{_COMMENT})
    | \#\# | {_INCLUDE}
    | (?P<raw_string>{_RAW_STRING})
    | {_PREFIX}(?:{_STRING_BODY}"?|{_CHARACTER_BODY}'?){_SUFFIX}
    | [0-9](?:[eEpP][+-]|'?\w|\.)*
    | (?P<identifier>[^\W\d][\w$]*)
    """,
    re.VERBOSE,
)

_CONTINUATION = r"\\[ \t]*\n"
_HAS_CONTINUATION = re.compile(_CONTINUATION)
_SPLICEABLE = re.compile(
    rf"""
      (?P<raw_string>{_RAW_STRING})
    | {_CONTINUATION}
    | \#\# | {_INCLUDE}
    | /(?:{_CONTINUATION})*+/(?:{_CONTINUATION}|[^\n])*+
    | /(?:{_CONTINUATION})*+\*(?s:.*?)(?:\*(?:{_CONTINUATION})*+/|\Z)
    | "(?:{_CONTINUATION}|\\(?:{_CONTINUATION})*+[^\n]|[^"\\\n])*+"?
    | '(?:{_CONTINUATION}|\\(?:{_CONTINUATION})*+[^\n]|[^'\\\n])*+'?
    | [0-9](?:[eEpP][+-]|(?:'(?:{_CONTINUATION})*+)?\w|\.|{_CONTINUATION})*+
    | [^\W\d](?:[\w$]|{_CONTINUATION})*+
    | (?s:.)
    """,
    re.VERBOSE,
)


def splice_lines(source: str) -> str:
    r"""``source`` with line ends as ``\n`` and backslash-newline pairs removed outside raw strings.

    Spaces between the backslash and the line end are accepted, as GCC and clang do.
    """
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    if not _HAS_CONTINUATION.search(source):
        return source
    if 'R"' not in source:
        return _HAS_CONTINUATION.sub("", source)

    def splice(match: re.Match[str]) -> str:
        text = match.group()
        if match.lastgroup == "raw_string" or "\\" not in text:
            return text
        return _HAS_CONTINUATION.sub("", text)

    return _SPLICEABLE.sub(splice, source)


def tokens(source: str) -> Iterator[Token]:
    """Cut ``source`` into tokens, white space and comments included.

    The texts of all tokens, joined, are :func:`splice_lines` of the source.
    """
    for match in _TOKEN.finditer(splice_lines(source)):
        name = match.lastgroup
        yield Token(_KIND[name or ""], match.group(), match.start())


def significant_tokens(source: str) -> Iterator[Token]:
    """:func:`tokens` without spaces and comments; newlines stay, they end directives."""
    for match in _SIGNIFICANT_TOKEN.finditer(splice_lines(source)):
        name = match.lastgroup
        if name is not None:
            yield Token(_KIND[name], match[name], match.start(name))


def words_and_comments(source: str) -> Iterator[str]:
    """The texts of the identifiers and comments of ``source``: what it says in words."""
    for match in _WORD_OR_COMMENT.finditer(splice_lines(source)):
        if match.lastgroup in ("comment", "identifier"):
            yield match.group()


_KIND = {kind.value: kind for kind in TokenKind}
