"""Normalized source: what is left of a program when comments and white space do not count.

Two programs with the same normalized source and the same normalized include closure are the same
program, whatever their layout, comments and file names; :func:`program_id` is the hash of both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from cass_ray.corpus.parsing.lexer import TokenKind, significant_tokens, tokens

_ID_VERSION = b"cass-ray program id 1\0"


def normalize(source: str) -> str:
    """``source`` with one space between tokens, no comments, and one directive a line.

    Literals are kept as written. The result means the same to a compiler, except for the white
    space inside operands of the preprocessor's ``#`` operator. ``normalize`` is idempotent.
    """
    out: list[str] = []
    line: list[str] = []
    line_start = True
    in_directive = False
    previous_end = -1

    def flush() -> None:
        _drop_last_backslashes(line)
        if line:
            out.append(" ".join(line))
            line.clear()

    for kind, written, start in significant_tokens(source):
        text = _on_its_line(kind, written) if kind is TokenKind.UNTERMINATED else written
        if kind is TokenKind.NEWLINE:
            _drop_last_backslashes(line)
            if in_directive:
                flush()
                in_directive = False
            line_start = True
            continue
        if line_start and (kind is TokenKind.INCLUDE or text in ("#", "%:")):
            flush()
            in_directive = True
        line_start = False
        if kind is TokenKind.INCLUDE:
            line.append(_normalize_include(text))
        elif in_directive and _opens_macro_parameters(line, text, start == previous_end):
            line[-1] += text
        else:
            line.append(text)
        previous_end = start + len(written)
        if kind is TokenKind.UNTERMINATED:
            flush()
            in_directive = False
            line_start = True
    flush()
    return "\n".join(out)


def strip_comments(source: str) -> str:
    """``source`` with every comment replaced by one space, as in translation phase 3.

    Continued lines are joined. A backslash that is left at the end of a line, where it would read
    as a line continuation, is left out: it is no token of C++.
    """
    out: list[str] = []
    for kind, text, _ in tokens(source):
        if kind is TokenKind.NEWLINE:
            _drop_last_backslashes(out)
        out.append(" " if kind is TokenKind.COMMENT else _on_its_line(kind, text))
    return "".join(out)


def _on_its_line(kind: TokenKind, text: str) -> str:
    """A quote without its partner may end with a backslash, too."""
    if kind is not TokenKind.UNTERMINATED:
        return text
    kept = len(text.rstrip("\\ \t\f\v"))
    last = text.find("\\", kept)
    return text if last < 0 else text[:last]


def _drop_last_backslashes(line: list[str]) -> None:
    for place in range(len(line) - 1, -1, -1):
        if line[place] == "\\":
            del line[place]
        elif line[place] == "\n" or not line[place].isspace():
            return


def source_digest(source: str) -> str:
    """SHA-256 (hexadecimal) of the normalized ``source``."""
    return hashlib.sha256(normalize(source).encode("utf-8", "surrogatepass")).hexdigest()


def program_id(main_digest: str, closure_digests: Iterable[str]) -> str:
    """The ``id`` of a row: SHA-256 of the program's own digest and those of its local includes.

    The includes count as a set: their order and their paths do not matter (the names they are
    included under are part of the sources).
    """
    combined = hashlib.sha256(_ID_VERSION)
    combined.update(bytes.fromhex(main_digest))
    for digest in sorted(set(closure_digests)):
        combined.update(bytes.fromhex(digest))
    return combined.hexdigest()


def _normalize_include(text: str) -> str:
    directive, header = text.split("<", 1)
    return f"#{directive[1:].strip()} <{header}"


def _opens_macro_parameters(line: list[str], text: str, adjacent: bool) -> bool:
    """Whether ``text`` is the ``(`` of ``#define NAME(``: a space before it would change it."""
    return (
        adjacent
        and text == "("
        and len(line) == 3
        and line[1] == "define"
        and line[0] in ("#", "%:")
    )
