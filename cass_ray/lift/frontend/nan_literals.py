"""Literals that nvdisasm prints as a NaN, by their bits.

The text is the same for every NaN, and ``FSEL`` copies the bits: ``FSEL R5, R9, -QNAN, P2`` gives
the high word of a double's infinity, 0xfff00000, where a logarithm's argument is zero. ``F2FP``
converts two halves of 16 bits, of which the lower is any number. The machine code has them.
"""

from __future__ import annotations

import re

from cass_ray.toolchain.nvidia.elf import Cubin

_LINE = re.compile(
    r"^[ \t]*\.section[ \t]+\.text\.(?P<name>[^\s,]+)"
    r"|^[ \t]*/\*(?P<address>[0-9a-f]{4,})\*/[^;\n]*"
    r"\b(?:U?FSEL|F2FP\.SATFINITE[.\w]*\.F16\.UNPACK_B_MERGE_C)\b[^;\n]*?(?P<literal>[-+]?[QS]NAN\b)",
    re.MULTILINE,
)
_AT = slice(4, 8)
"""Where a literal of 32 bits is in an instruction."""


def with_bits_of_nans(listing: str, cubin: Cubin) -> str:
    """``listing`` with the bits of such literals, where ``cubin`` has its machine code."""
    if "NAN" not in listing:
        return listing
    code = {each.name.removeprefix(".text."): each.data for each in cubin.code_sections}
    pieces: list[str] = []
    place, content = 0, b""
    for match in _LINE.finditer(listing):
        if match["name"]:
            content = code.get(match["name"], b"")
            continue
        address = int(match["address"], 16)
        word = int.from_bytes(content[address : address + 16][_AT], "little")
        if word & 0x7FFFFFFF > 0x7F800000:
            pieces += [listing[place : match.start("literal")], f"{word:#x}"]
            place = match.end("literal")
    return "".join((*pieces, listing[place:]))
