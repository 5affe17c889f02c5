"""Text of strangers, for rows, terminals and pages: nothing in it steers or deceives."""

from __future__ import annotations

import re

_LINES = re.compile(r"[^\n\t]+")


def printable(name: str) -> str:
    """``name`` as valid UTF-8 on one line, control and formatting characters written out."""
    try:
        raw = name.encode("utf-8", "surrogateescape")  # as the operating system gave it
    except UnicodeEncodeError:
        raw = name.encode("utf-8", "backslashreplace")
    text = raw.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )


def printable_text(text: str) -> str:
    """Like :func:`printable`, with lines and tabs as they are."""
    return _LINES.sub(lambda match: printable(match[0]), text.replace("\r\n", "\n"))


def last_lines(text: str, characters: int) -> str:
    """The end of ``text``, at most so long: whole lines, or the end of one that is longer."""
    text = text.strip()
    if len(text) <= characters:
        return text
    cut, newline, whole = text[-characters:].partition("\n")
    # The cut may fall between two lines.
    return cut + newline + whole if text[-characters - 1] == "\n" else whole or f"…{cut[1:]}"
