"""Lengths of texts: lines and lexical tokens, counted on bytes so that a data set takes minutes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_SPACE, _WORD, _MARK = 0, 1, 2


def _classes() -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    classes = np.full(256, _MARK, dtype=np.uint8)
    classes[list(b" \t\r\n\v\f\0")] = _SPACE
    letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
    classes[list(letters)] = _WORD
    classes[128:] = _WORD  # letters beyond ASCII, byte by byte
    return classes


_CLASSES = _classes()


class TextCounts(NamedTuple):
    """Lengths of one text."""

    lines: int
    """Lines that hold anything but white space."""
    tokens: int
    """Words (letters, digits and underscores together) and each other printing character."""


def count(text: str | None) -> TextCounts:
    """Lengths of ``text``; of None as of an empty text."""
    if not text:
        return TextCounts(0, 0)
    raw = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
    kinds = _CLASSES[raw]
    word = kinds == _WORD
    starts = int(word[0]) + int(np.count_nonzero(word[1:] & ~word[:-1]))
    marks = int(np.count_nonzero(kinds == _MARK))
    before = np.cumsum(kinds != _SPACE)
    ends = np.flatnonzero(raw == ord("\n"))
    lines = np.count_nonzero(np.diff(before[ends], prepend=0, append=before[-1]))
    return TextCounts(int(lines), starts + marks)
