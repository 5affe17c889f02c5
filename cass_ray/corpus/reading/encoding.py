"""Decodes source files: UTF-8 where it is, other encodings repaired, binary files told apart."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

CONTROL_RATIO = 0.02
"""A text may have this share of control characters; above it a file is binary."""

_BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""UTF-32 first: its little-endian mark starts with that of UTF-16."""

_LEGACY_ENCODINGS = ["cp1252", "gb18030", "shift_jis", "euc_jp", "euc_kr", "big5", "cp1251"]
"""Encodings tried for text that is neither UTF-8 nor marked: those found in public CUDA code."""

_TEXT_CONTROLS = frozenset(b"\t\n\r\f\v\b\x1a\x1b")
_CONTROLS = bytes(code for code in range(32) if code not in _TEXT_CONTROLS) + b"\x7f"


class BinaryFileError(ValueError):
    """The bytes are not text in any encoding known here."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file; ``encoding`` is the one it was in (``utf-8`` when nothing was done)."""

    text: str
    encoding: str

    @property
    def repaired(self) -> bool:
        """Whether the bytes were not plain UTF-8."""
        return self.encoding != "utf-8"


def decode(data: bytes) -> Decoded:
    """Decode a source file.

    Order: byte order mark, UTF-8, UTF-16 recognized by its NUL pattern, legacy encodings ranked
    by charset-normalizer, Windows-1252, Latin-1 (which takes any byte).

    Raises:
        BinaryFileError: NUL bytes, or more than ``CONTROL_RATIO`` control characters.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode_marked(data, encoding)
    if b"\0" in data:
        return _decode_unmarked_utf16(data)
    _check_controls(data)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _decode_legacy(data)


def _decode_marked(data: bytes, encoding: str) -> Decoded:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BinaryFileError(
            f"starts with a byte order mark of {encoding}, but byte {error.start} is not {encoding}"
        ) from None
    if "\0" in text:
        raise BinaryFileError("holds NUL characters")
    return Decoded(text, encoding)


def _decode_unmarked_utf16(data: bytes) -> Decoded:
    """UTF-16 of mostly ASCII text has a NUL in nearly every second byte, all on one side."""
    if len(data) % 2 == 0:
        for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            high, low = data[offset::2], data[1 - offset :: 2]
            if high.count(0) >= 0.7 * len(high) and b"\0" not in low:
                return _decode_marked(data, encoding)
    raise BinaryFileError(f"holds NUL bytes (the first at offset {data.index(0)})")


def _check_controls(data: bytes) -> None:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls > CONTROL_RATIO * len(data):
        share = controls / len(data)
        raise BinaryFileError(f"{share:.0%} of the bytes are control characters")


def _decode_legacy(data: bytes) -> Decoded:
    from charset_normalizer import from_bytes  # takes long to import, and is seldom needed

    best = from_bytes(data, cp_isolation=_LEGACY_ENCODINGS).best()
    candidates = [best.encoding] if best is not None else []
    for encoding in (*candidates, "cp1252"):
        try:
            return Decoded(data.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return Decoded(data.decode("latin-1"), "latin-1")
