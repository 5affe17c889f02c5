"""Operands of RDNA3 instructions as LLVM writes them."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace

from cass_ray.rdna3_to_ptx.errors import UnknownInstruction

_REGISTER = re.compile(r"([sv])(\d{1,3})$")
_RANGE = re.compile(r"([sv])\[(\d{1,3}):(\d{1,3})\]$")
_WIDEST = 32
"""Registers of the widest operand."""
_SYMBOL = re.compile(
    r"(?P<name>[\w.$]+)@(?P<kind>rel32|gotpcrel32)@(?P<half>lo|hi)(?P<added>[+-]\d+)?$"
)
_FROM_COUNTER = {"lo": 4, "hi": 12}
"""Distance of the literals of s_add_u32 and s_addc_u32 from what s_getpc_b64 gives."""
_WORD = re.compile(r"(?:[^\s\[]++|\[[^\]]*+\]?)++")
_MODIFIER = re.compile(r"([a-z_0-9]+)(?::(\[[^\]]*\]|\S+))?$")
_SPECIAL = {
    "vcc_lo": ("vcc_lo",),
    "vcc_hi": ("vcc_hi",),
    "vcc": ("vcc_lo", "vcc_hi"),
    "exec_lo": ("exec",),
    "exec_hi": ("zero",),
    "exec": ("exec", "zero"),
    "m0": ("m0",),
    "null": ("null", "null"),
}
_FLOAT = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?$")


@dataclass(frozen=True)
class Rdna3Register:
    """Consecutive registers by the names that the PTX gives them, with input modifiers."""

    names: tuple[str, ...]
    negated: bool = False
    absolute: bool = False

    @property
    def is_vector(self) -> bool:
        """Whether each lane has its own value."""
        return self.names[0].startswith("v") and not self.names[0].startswith("vcc")

    @property
    def is_null(self) -> bool:
        """Whether what is written to it is lost."""
        return self.names[0] == "null"


@dataclass(frozen=True)
class Literal:
    """A constant: ``number`` for an integer or bits, ``value`` for one written as a float."""

    number: int = 0
    value: float | None = None
    negated: bool = False
    absolute: bool = False

    def bits(self, size: int) -> int:
        """The constant as ``size`` bits; 64 bits of an integer are its sign extension."""
        if self.value is not None:
            code = {16: "e", 32: "f", 64: "d"}[size]
            return int.from_bytes(struct.pack(f"<{code}", self.value), "little")
        return self.number & ((1 << size) - 1)

    def double_bits(self) -> int:
        """The constant where a double is wanted: 32 literal bits are its high word."""
        if self.value is not None:
            return self.bits(64)
        return (self.number & 0xFFFFFFFF) << 32 if abs(self.number) > 64 else self.bits(64)


@dataclass(frozen=True)
class Symbol:
    """Half of a symbol's address plus ``added`` bytes, relative to the program counter."""

    name: str
    added: int
    high: bool
    through_table: bool


@dataclass(frozen=True)
class Off:
    """``off``: the operand of an access without an address register."""


Rdna3Operand = Rdna3Register | Literal | Symbol | Off


def parse(text: str) -> Rdna3Operand:
    """One operand. Raises :class:`UnknownInstruction`."""
    text = text.strip()
    negated = absolute = False
    if text.startswith("-") and not text[1:2].isdigit():
        negated, text = True, text[1:]
    if text.startswith("neg(") and text.endswith(")"):
        negated, text = True, text[4:-1]
    if text.startswith("|") and text.endswith("|"):
        absolute, text = True, text[1:-1]
    operand = _plain(text)
    if (negated or absolute) and isinstance(operand, Rdna3Register | Literal):
        return replace(operand, negated=negated, absolute=absolute)
    return operand


def _plain(text: str) -> Rdna3Operand:
    if text == "off":
        return Off()
    if text in _SPECIAL:
        return Rdna3Register(_SPECIAL[text])
    if match := _REGISTER.match(text):
        return Rdna3Register((f"{match[1]}{match[2]}",))
    if match := _RANGE.match(text):
        first, last = int(match[2]), int(match[3])
        if not first <= last < first + _WIDEST:
            raise UnknownInstruction(text, "no such registers")
        return Rdna3Register(tuple(f"{match[1]}{n}" for n in range(first, last + 1)))
    if _FLOAT.match(text):
        # 1 / (2 pi) is the one inline constant that LLVM does not write in full.
        return Literal(value=0.15915494309189532 if text.startswith("0.1591549") else float(text))
    try:
        return Literal(int(text, 0))
    except ValueError:
        pass
    if match := _SYMBOL.match(text):
        half = match["half"]
        added = int(match["added"] or "0") - _FROM_COUNTER[half]
        return Symbol(match["name"], added, half == "hi", match["kind"].startswith("got"))
    raise UnknownInstruction(text, "an operand of unknown kind")


def split_modifiers(operands: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Operands without what follows the last one, and that by name (``offset`` -> ``12``)."""
    if not operands:
        return [], {}
    words = _WORD.findall(operands[-1]) or [""]
    modifiers = {}
    for word in words[1:]:
        match = _MODIFIER.match(word)
        if match is None:
            raise UnknownInstruction(word, "a modifier of unknown form")
        modifiers[match[1]] = match[2] or ""
    return [*operands[:-1], words[0]], modifiers
