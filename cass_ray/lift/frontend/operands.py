"""Operands of SASS instructions, parsed from what nvdisasm prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import SupportsIndex, overload

from cass_ray.lift.errors import UnknownForm


@dataclass(frozen=True, slots=True)
class Register:
    """``R4``, ``-|UR2|``, ``~R3.H1``: a general or uniform register, possibly modified."""

    file: str
    """``R`` or ``UR``."""
    index: int | None
    """None is the register that reads as zero and drops what is written."""
    negated: bool = False
    inverted: bool = False
    absolute: bool = False
    suffixes: tuple[str, ...] = ()
    """Selectors after the name (``H1``, ``B2``, ``64``), without ``reuse``."""

    @property
    def is_zero(self) -> bool:
        return self.index is None

    @property
    def name(self) -> str:
        return f"{self.file}{'Z' if self.index is None else self.index}"

    def following(self, distance: int) -> Register:
        """The plain register ``distance`` further, for values wider than 32 bits."""
        return Register(self.file, None if self.index is None else self.index + distance)


@dataclass(frozen=True, slots=True)
class Predicate:
    """``P0``, ``!UP3``, ``PT``; ``index`` None is the constant true."""

    file: str
    index: int | None
    inverted: bool = False

    @property
    def name(self) -> str:
        return f"{self.file}{'T' if self.index is None else self.index}"


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal; hexadecimal for bits, decimal for floating point, as printed."""

    text: str

    @property
    def is_bits(self) -> bool:
        """Whether it was printed as an integer in hexadecimal."""
        return "0x" in self.text

    @property
    def integer(self) -> int:
        """The integer, signed as printed. Raises :class:`UnknownForm` for a floating-point one."""
        try:
            return int(self.text, 16 if self.is_bits else 10)
        except ValueError:
            raise UnknownForm(self.text, "a floating-point literal as an integer") from None


@dataclass(frozen=True, slots=True)
class Constant:
    """``c[bank][index + offset]``: a word of a constant bank; ``offset`` in bytes."""

    bank: int
    offset: int
    index: Register | None = None
    negated: bool = False
    inverted: bool = False
    absolute: bool = False
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Address:
    """``[R2.64+UR4+0x10]``, with or without a descriptor in front."""

    terms: tuple[Register, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class MatrixDescriptors:
    """``gdesc[UR4].negA.tnspB``: uniform registers with descriptors of matrices in shared memory,
    a pair for A and a pair for B."""

    first: Register
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TensorAddress:
    """``tmem[UR4+0x20].A_KEEP``: a place in tensor memory, by a uniform register that has the lane
    in its upper half and the column in the lower one."""

    terms: tuple[Register, ...]
    offset: int
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstructionDescriptor:
    """``idesc[UR5]``: shapes and kinds of the matrices of a product, in a uniform register."""

    register: Register


@dataclass(frozen=True, slots=True)
class Name:
    """Anything else: a special register, a label, a scoreboard, a relocated symbol."""

    text: str


Operand = (
    Register
    | Predicate
    | Immediate
    | Constant
    | Address
    | MatrixDescriptors
    | TensorAddress
    | InstructionDescriptor
    | Name
)


class Operands(tuple[Operand, ...]):
    """An instruction's operands, or some of them. What is not there is an unknown form.

    Raises :class:`UnknownForm` where a tuple raises IndexError, so that an instruction of another
    shape is not taken for a defect of the lifter, nor a defect for such an instruction.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex) -> Operand: ...

    @overload
    def __getitem__(self, key: slice) -> Operands: ...

    def __getitem__(self, key: SupportsIndex | slice) -> Operand | Operands:
        if isinstance(key, slice):
            return Operands(super().__getitem__(key))
        try:
            return super().__getitem__(key)
        except IndexError:
            raise self._unknown() from None

    def exactly(self, count: int) -> Operands:
        """These, which are ``count``. Raises :class:`UnknownForm` if they are not."""
        if len(self) != count:
            raise self._unknown()
        return self

    def _unknown(self) -> UnknownForm:
        return UnknownForm(f"{len(self)} operands", "not as many as the form has")


_LAST_REGISTER = 255

_SIGNED = r"(?P<sign>[-~]?)(?P<bar>\|?)"
_REGISTER = re.compile(_SIGNED + r"(?P<file>U?R)(?P<index>Z|\d+)\|?(?P<suffix>(?:\.\w+)*)\|?")
_PREDICATE = re.compile(r"(?P<not>!?)(?P<file>U?P)(?P<index>T|\d)")
_IMMEDIATE = re.compile(
    r"[-+]?(?:0x[0-9a-f]+|\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|[QS]NAN)(?:\.\w*NAN)?"
)
_CONSTANT = re.compile(
    _SIGNED + r"c\[(?P<bank>0x[0-9a-f]+)\] ?\[(?P<place>[^\]]*)\]\|?(?P<suffix>(?:\.\w+)*)\|?"
)
_DESCRIPTORS = re.compile(r"gdesc\[(?P<file>UR)(?P<index>\d+)\](?P<flags>(?:\.\w+)*)")
_TENSOR_ADDRESS = re.compile(r"tmem\[(?P<place>[^\]]*)\](?P<flags>(?:\.\w+)*)")
_INSTRUCTION_DESCRIPTOR = re.compile(r"idesc\[(?P<file>UR)(?P<index>Z|\d+)\]")
_ADDRESS = re.compile(r"(?:desc\[UR\w+\])?\[(?P<place>[^\]]*)\]")


@lru_cache(maxsize=65536)
def parse(text: str) -> Operand:
    """The operand that ``text`` is.

    Raises :class:`UnknownForm` for a memory or constant reference of a shape not known.
    """
    if match := _REGISTER.fullmatch(text):
        return Register(match["file"], _index(match), *_modifiers(match))
    if match := _PREDICATE.fullmatch(text):
        return Predicate(match["file"], _index(match), bool(match["not"]))
    if _IMMEDIATE.fullmatch(text):
        return Immediate(text)
    if match := _CONSTANT.fullmatch(text):
        terms, offset = _place(match["place"], text)
        if len(terms) > 1:
            raise UnknownForm(text, "more than one index into a constant bank")
        index = terms[0] if terms else None
        return Constant(int(match["bank"], 16), offset, index, *_modifiers(match))
    if match := _ADDRESS.fullmatch(text):
        return Address(*_place(match["place"], text))
    if match := _DESCRIPTORS.fullmatch(text):
        flags = tuple(match["flags"].split(".")[1:])
        return MatrixDescriptors(Register(match["file"], _index(match)), flags)
    if match := _TENSOR_ADDRESS.fullmatch(text):
        flags = tuple(match["flags"].split(".")[1:])
        return TensorAddress(*_place(match["place"], text), flags)
    if match := _INSTRUCTION_DESCRIPTOR.fullmatch(text):
        return InstructionDescriptor(Register(match["file"], _index(match)))
    return Name(text)


def _index(match: re.Match[str]) -> int | None:
    written = match["index"]
    if not written.isdigit():
        return None
    if len(written) > 3 or int(written) > _LAST_REGISTER:
        raise UnknownForm(match[0][:80], "no such register")
    return int(written)


def _modifiers(match: re.Match[str]) -> tuple[bool, bool, bool, tuple[str, ...]]:
    suffixes = tuple(s for s in match["suffix"].split(".") if s and s != "reuse")
    return match["sign"] == "-", match["sign"] == "~", bool(match["bar"]), suffixes


def _place(text: str, whole: str) -> tuple[tuple[Register, ...], int]:
    """Registers other than the zero ones, and the sum of the literals."""
    registers: list[Register] = []
    offset = 0
    for written in text.replace("+-", "+\0-").split("+"):
        part = written.strip("\0 ")
        if match := _REGISTER.fullmatch(part):
            register = Register(match["file"], _index(match), *_modifiers(match))
            if register.negated or register.inverted or register.absolute:
                raise UnknownForm(whole, "a modified register in an address")
            if not register.is_zero:
                registers.append(register)
        elif re.fullmatch(r"-?0x[0-9a-f]+", part):
            offset += int(part, 16)
        elif part:
            raise UnknownForm(whole, f"{part!r} in an address")
    return tuple(registers), offset
