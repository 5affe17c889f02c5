"""Mnemonics of x86-64 assembly (AT&T syntax), by splitting lines: counts are compared with them."""

from __future__ import annotations

PREFIXES = {"lock", "rep", "repz", "repnz", "repe", "repne", "notrack", "bnd", "data16"}


def mnemonics(text: str) -> list[str]:
    """Each instruction's mnemonic, a prefix with a space before it."""
    found = []
    for line in text.split("\n"):
        words = line.split()
        while words and words[0].endswith(":"):
            del words[0]
        if not words or words[0].startswith((".", "#")) or words[1:2] == ["="]:
            continue
        found.append(" ".join(words[:2]) if words[0] in PREFIXES else words[0])
    return found
