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
    return _LINES.sub(lambda found: printable(found[0]), text.replace("\r\n", "\n"))
