"""What GNU-style assembly has in common on x86-64 and AMDGPU: comments, operands, data objects."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')
_LINKAGE = {
    ".globl": "globl",
    ".global": "globl",
    ".weak": "weak",
    ".protected": "protected",
    ".hidden": "hidden",
    ".local": "local",
}
_SECTIONS = {".text", ".data", ".bss", ".rodata"}
OBJECT_DIRECTIVES = frozenset(
    {".type", ".size", ".section", ".comm", ".lcomm", ".amdgpu_lds", *_LINKAGE, *_SECTIONS}
)
"""Directives that ``objects`` reads; others may be left out of its input."""


def without_comment(text: str, mark: re.Pattern[str]) -> str:
    """``text`` up to the first ``mark`` outside double quotes."""
    position = 0
    quotes = _QUOTED.finditer(text)
    quoted = next(quotes, None)
    while match := mark.search(text, position):
        while quoted is not None and quoted.end() <= match.start():
            quoted = next(quotes, None)
        if quoted is None or match.start() < quoted.start():
            return text[: match.start()]
        position = quoted.end()
    return text


def statement(text: str, label: str, mark: re.Pattern[str]) -> str:
    """Mnemonic and operands of a line, without its label and its comment (after ``mark``)."""
    plain = without_comment(text, mark).strip()
    return plain.removeprefix(f"{label}:").strip() if label else plain


def split_operands(text: str) -> tuple[str, ...]:
    """Operands between commas that stand outside brackets, parentheses and quotes."""
    if "(" not in text and "[" not in text and '"' not in text:
        stripped = text.strip()
        return tuple(part.strip() for part in stripped.split(",")) if stripped else ()
    parts: list[str] = []
    start = depth = 0
    in_quotes = False
    for index, character in enumerate(text):
        if character == '"' and text[index - 1 : index] != "\\":
            in_quotes = not in_quotes
        elif in_quotes:
            continue
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip())
    return tuple(parts)


def function_names(statements: Iterable[tuple[str, tuple[str, ...]]]) -> set[str]:
    """Symbols that some ``.type`` calls a function, from the (mnemonic, operands) of a file."""
    return {
        operands[0]
        for mnemonic, operands in statements
        if mnemonic == ".type" and operands and operands[-1] in ("@function", "%function")
    }


def function_ranges(
    names: Collection[str], statements: Iterable[tuple[str, str, str]]
) -> dict[str, range]:
    """Name -> lines, from a function's label to its ``.size``, the next function or the end.

    ``statements`` are the (label, mnemonic, statement text) of every line.
    """
    ranges: dict[str, range] = {}
    start, name, index = 0, "", -1
    for index, (label, mnemonic, statement) in enumerate(statements):
        begins = label in names
        ends = mnemonic == ".size" and split_operands(statement[5:])[:1] == (name,)
        if name and (begins or ends):
            ranges[name] = range(start, index)
            name = ""
        if begins:
            start, name = index, label
    if name:
        ranges[name] = range(start, index + 1)
    return ranges


class DataObject(NamedTuple):
    """A variable that the text defines."""

    size: int
    section: str
    linkage: str


def objects(statements: Iterable[tuple[str, str, tuple[str, ...]]]) -> dict[str, DataObject]:
    """Variables of a file, from its (label, mnemonic, operands) in order."""
    section = ".text"
    places: dict[str, str] = {}
    sizes: dict[str, int] = {}
    linkages: dict[str, str] = {}
    typed: list[str] = []
    for label, mnemonic, operands in statements:
        if label:
            places[label] = section
        if mnemonic in _SECTIONS:
            section = mnemonic
        elif not operands:
            continue
        elif mnemonic == ".section":
            section = operands[0]
        elif mnemonic in _LINKAGE:
            linkages[operands[0]] = _LINKAGE[mnemonic]
        elif mnemonic == ".type" and operands[-1] in ("@object", "%object"):
            typed.append(operands[0])
        elif mnemonic == ".size":
            sizes[operands[0]] = _integer(operands[-1])
        elif mnemonic in (".comm", ".lcomm", ".amdgpu_lds") and len(operands) > 1:
            typed.append(operands[0])
            sizes[operands[0]] = _integer(operands[1])
            places[operands[0]] = ".lds" if mnemonic == ".amdgpu_lds" else ".bss"
    return {
        name: DataObject(sizes.get(name, 0), places[name], linkages.get(name, "local"))
        for name in dict.fromkeys(typed)
        if name in places
    }


def _integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return 0
