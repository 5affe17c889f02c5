"""Other ways to write one instruction: operands moved to where another form has them.

``LDG.E.SYS R4, [UR8+0x10]`` is ``LDG.E.SYS R4, [R100+0x10]`` after two moves; ``UFMUL`` is ``FMUL``
of registers that hold the same. What comes before is written with instructions that are proven.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from cass_ray.lift.frontend.operands import (
    Address,
    Constant,
    Immediate,
    Operand,
    Predicate,
    Register,
    parse,
)

WORDS = 4
"""Registers that are copied for one: what an operand has at most."""
_FIRST, _APART = 100, 8
"""The registers to which the first operand is moved, and the distance to those of the next."""
_RESULT = "R96"
_SCRATCH, _UNIFORM_SCRATCH = "R90", "UR50"
_PREDICATES = (5, 4, 3)
"""Those that operands are moved to, and the lowest one for a carry."""
_CARRY = "P5"
_IN_SHARED = ("LDS", "STS", "ATOMS", "LDL", "STL", "SYNCS", "ARRIVES")
"""Opcodes whose addresses have 32 bits."""
_NO_TARGET = frozenset(
    ("ST", "STG", "STS", "STL", "RED", "BAR", "NANOSLEEP", "SUST", "ARRIVES", "R2P", "DEPBAR",
     "UTMALDG", "UTMASTG", "UBLKCP", "WARPSYNC", "BREAK")
)  # fmt: skip
_VOTES = ("VOTE", "VOTEU")


@dataclass(frozen=True)
class Instruction:
    """One instruction as text, in parts."""

    mnemonic: str
    operands: tuple[str, ...]
    guard: str = ""

    @property
    def opcode(self) -> str:
        return self.mnemonic.partition(".")[0]

    def text(self) -> str:
        """As nvdisasm prints it."""
        return f"{self.guard}{self.mnemonic} {', '.join(self.operands)}".rstrip()

    def targets(self) -> int:
        """How many operands at the front are written."""
        if self.opcode in _NO_TARGET or not self.operands:
            return 0
        kinds = [type(parse(each)) for each in self.operands[:3]]
        if self.opcode in _VOTES:
            return 2 if kinds[0] is Register else 1
        count = 1
        while count < len(kinds) and kinds[count - 1] is Predicate:
            count += 1
        if self.opcode in ("FCHK", "SYNCS", "VOTE"):
            return 1
        is_comparison = self.opcode.endswith(("SETP", "SETP2"))
        return 2 if is_comparison else count


@dataclass(frozen=True)
class Twin:
    """An instruction that does the same after ``before``; ``rules`` say how it came about."""

    instruction: Instruction
    before: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    is_of_vectors: bool = False
    """Whether vector registers have what the original leaves in uniform ones."""

    def output(self, name: str) -> str:
        """The register that has what the original leaves in ``name``."""
        return _vector(name) if self.is_of_vectors else name


@dataclass(frozen=True)
class _Choice:
    """One operand, perhaps moved."""

    text: str
    before: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def twins(instruction: Instruction) -> Iterator[Twin]:
    """Every other way to write the instruction that is known here, and itself."""
    for start in (Twin(instruction), *_as_vector(instruction), *_in_other_words(instruction)):
        for mnemonic, rules in _mnemonics(start.instruction.mnemonic):
            one = replace(start.instruction, mnemonic=mnemonic)
            choices = [
                [_Choice(text)] if place < one.targets() else _choices(one, place, text)
                for place, text in enumerate(one.operands)
            ]
            for chosen in product(*choices):
                yield replace(
                    start,
                    instruction=replace(one, operands=tuple(each.text for each in chosen)),
                    before=(*start.before, *(line for each in chosen for line in each.before)),
                    rules=(*start.rules, *rules, *(r for each in chosen for r in each.rules)),
                )


# The instruction


_UNIFORM_NAMES = {
    "S2UR": "S2R",
    "VOTEU": "VOTE",
    "UP2UR": "P2R",
    "UVIMNMX": "VIMNMX",
    "UI2F": "I2F",
    "USEL": "SEL",
    "UIMNMX": "IMNMX",
}


def _as_vector(i: Instruction) -> Iterator[Twin]:
    """The opcode without its U, every uniform register as the vector register of its number."""
    opcode, dot, modifiers = i.mnemonic.partition(".")
    name = _UNIFORM_NAMES.get(opcode) or (opcode[1:] if opcode.startswith("UF") else "")
    if i.mnemonic == "BRA.U":
        name, dot, modifiers = "BRA", "", ""
    if not name:
        return
    copied = set(_uniform_names(i))
    before = [f"MOV R{n}, UR{n}" for n in sorted(int(x[2:]) for x in copied if x[1] == "R")]
    for number in sorted(int(x[2:]) for x in copied if x[1] == "P"):
        before += _predicate(number, f"!UP{number}")
    made = Instruction(f"{name}{dot}{modifiers}", tuple(map(_vector, i.operands)), _vector(i.guard))
    yield Twin(made, tuple(before), ("uniform opcode",), is_of_vectors=True)


def _uniform_names(i: Instruction) -> Iterator[str]:
    """Uniform registers and predicates that an instruction may read, or leave as they are."""
    for text in (*i.operands, *filter(None, [i.guard.strip("@ ")])):
        operand = parse(text)
        if isinstance(operand, Register) and operand.file == "UR" and operand.index is not None:
            yield from (operand.following(n).name for n in range(WORDS))
        elif isinstance(operand, Predicate) and operand.name.startswith("UP"):
            yield from [operand.name] if operand.index is not None else []
        elif text == "UPR":
            yield from (f"UP{n}" for n in range(7))


def _vector(text: str) -> str:
    return re.sub(r"\bU([RP])(?=[\dZTR])", r"\1", text)


def _in_other_words(i: Instruction) -> Iterator[Twin]:
    """Instructions that do in one what others do in two."""
    if i.opcode == "FMNMX3":
        target, first, second, third, least = i.operands
        two = i.mnemonic.replace("FMNMX3", "FMNMX")
        before = f"{i.guard}{two} {_RESULT}, {first}, {second}, {least}"
        last = Instruction(two, (target, _RESULT, third, least), i.guard)
        yield Twin(last, (before,), ("of three as of two and one",))
    if i.mnemonic == "BRA.U.ANY":
        asked = i.guard.strip("@ ") or "PT"
        yield Twin(
            Instruction("BRA", i.operands, f"@{_CARRY} "),
            (f"VOTE.ANY {_CARRY}, {asked}",),
            ("where one goes as a vote",),
        )
    if i.mnemonic in ("WARPSYNC.ALL", "WARPSYNC.COLLECTIVE.ALL"):
        last = Instruction(i.mnemonic.removesuffix(".ALL"), (_RESULT, *i.operands), i.guard)
        yield Twin(last, (f"MOV {_RESULT}, 0xffffffff",), ("all as a mask",))
    if i.mnemonic == "VOTE.ALL" and i.operands[1] == "PT":
        yield Twin(replace(i, mnemonic="VOTE.ANY"), (), ("the mask of votes for all as for any",))


def _mnemonics(mnemonic: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """With modifiers that ask for no more than what is left of them."""
    yield mnemonic, ()
    for hint in (".LU", ".NODEP", ".SYNCS", ".U"):
        modifiers = mnemonic.split(".")
        if hint[1:] in modifiers[1:] and mnemonic.startswith(("LDL", "TEX", "NANOSLEEP", "LDS")):
            modifiers.remove(hint[1:])
            yield ".".join(modifiers), (f"without {hint}",)
    found = re.search(r"\.STRONG\.(CTA|SM|GPU)\b", mnemonic)
    for wider in (".STRONG.GPU", ".STRONG.SYS") if found else ():
        if found and found[0] != wider:
            yield mnemonic.replace(found[0], wider), (f"{found[0]} as {wider}",)


# Operands


def _choices(i: Instruction, place: int, text: str) -> list[_Choice]:
    """The operand as it is, and moved in each way, also one after the other."""
    first = _FIRST + _APART * place
    found = [_Choice(text)]
    for register in (first, first + WORDS):
        for choice in list(found):
            found += _moved(i, choice, register)
    unique = {choice.text: choice for choice in reversed(found)}
    return list(unique.values())[::-1]


def _moved(i: Instruction, choice: _Choice, register: int) -> Iterator[_Choice]:
    operand = parse(choice.text)
    for text, before, rule in _rewritten(i, operand, choice.text, register):
        yield _Choice(text, (*choice.before, *before), (*choice.rules, rule))


def _rewritten(
    i: Instruction, operand: Operand, text: str, register: int
) -> Iterator[tuple[str, list[str], str]]:
    """What the operand becomes, what is done before, and the name of the rule."""
    if isinstance(operand, Register | Constant):
        if isinstance(operand, Constant) or operand.file == "UR":
            yield from _in_vector_register(operand, text, register)
        if isinstance(operand, Register) and operand.file == "R":
            yield from _selected(i, operand, register)
            yield from _with_sign(i, operand, register)
    elif isinstance(operand, Immediate):
        yield from _literal(i, operand, register)
    elif isinstance(operand, Predicate):
        yield from _condition(i, operand, register)
    elif isinstance(operand, Address):
        yield from _address(i, operand, register)


def _in_vector_register(
    operand: Register | Constant, text: str, register: int
) -> Iterator[tuple[str, list[str], str]]:
    if isinstance(operand, Register):
        names = [operand.following(n).name for n in range(WORDS)]
        yield (
            re.sub(r"UR(\d+|Z)", f"R{register}", text),
            [f"MOV R{register + n}, {name}" for n, name in enumerate(names)],
            "UR",
        )
    elif operand.index is None:
        names = [f"c[{operand.bank:#x}][{operand.offset + 4 * n:#x}]" for n in range(WORDS)]
        yield (
            re.sub(r"c\[.*\]", f"R{register}", text),
            [f"MOV R{register + n}, {name}" for n, name in enumerate(names)],
            "c",
        )


_SHIFTS = {"H1": 16, "B1": 8, "B2": 16, "B3": 24}
_PAIRS = {"H0_H0": "0x1010", "H1_H1": "0x3232"}


def _selected(
    i: Instruction, operand: Register, register: int
) -> Iterator[tuple[str, list[str], str]]:
    """Parts of words, which are then lowest, or in both halves."""
    if len(operand.suffixes) != 1 or operand.absolute or operand.negated:
        return
    (suffix,) = operand.suffixes
    plain = Register(operand.file, operand.index).name
    if suffix in _SHIFTS and i.opcode in ("I2F", "I2FP", "R2P"):
        shift = f"SHF.R.U32.HI R{register}, RZ, {_SHIFTS[suffix]:#x}, {plain}"
        yield f"R{register}", [shift], f".{suffix}"
    elif suffix in _PAIRS and i.opcode.startswith("H"):
        yield (
            f"R{register}",
            [f"PRMT R{register}, {plain}, {_PAIRS[suffix]}, RZ"],
            f".{suffix}",
        )


def precision(i: Instruction) -> str:
    """f32, f64 or f16x2: what an instruction's signs and floating-point literals are of."""
    parts = set(i.mnemonic.split(".")[1:])
    if i.opcode.startswith("D"):
        return "f64"
    if i.opcode.startswith("H"):
        return "f16x2"
    is_single = i.opcode.startswith(("F", "MUFU")) and not parts & {"F64", "F16", "BF16"}
    return "f32" if is_single else ""


def _with_sign(
    i: Instruction, operand: Register, register: int
) -> Iterator[tuple[str, list[str], str]]:
    """An absolute value, or a negated one, is its sign changed."""
    kind = precision(i)
    if not kind or operand.suffixes or not (operand.negated or operand.absolute):
        return
    mask = 0x80008000 if kind == "f16x2" else 0x80000000
    place = 1 if kind == "f64" else 0
    names = [operand.following(n).name for n in range(WORDS)]
    before = [f"MOV R{register + n}, {name}" for n, name in enumerate(names)]
    # The truth tables of and, or, exclusive or.
    value, table = (~mask & 0xFFFFFFFF, "0xc0") if operand.absolute else (mask, "0x3c")
    if operand.absolute and operand.negated:
        value, table = mask, "0xfc"
    changed = f"R{register + place}, {names[place]}, {value:#x}, RZ, {table}, !PT"
    before[place] = f"LOP3.LUT {changed}"
    shape = f"{'-' * operand.negated}{'|' * operand.absolute}"
    yield f"R{register}", before, f"{shape} of {kind}"


def _literal(
    i: Instruction, operand: Immediate, register: int
) -> Iterator[tuple[str, list[str], str]]:
    if operand.is_bits:
        if i.mnemonic in ("IMNMX.U64", "IMNMX.S64"):
            low, high = operand.integer & 0xFFFFFFFF, operand.integer >> 32 & 0xFFFFFFFF
            before = [f"MOV R{register}, {low:#x}", f"MOV R{register + 1}, {high:#x}"]
            yield f"R{register}", before, "i of 64 bits"
        elif i.opcode in ("VIMNMX", "VIMNMX3", "I2FP", "IMNMX"):
            yield f"R{register}", [f"MOV R{register}, {operand.text}"], "i"
    elif precision(i) == "f32":
        number = struct.unpack("<I", struct.pack("<f", float(operand.text)))[0]
        yield f"R{register}", [f"MOV R{register}, {number:#x}"], "f"


def _predicate(target: int, source: str) -> list[str]:
    """A predicate that holds where ``source``, another one's name, does not."""
    if "U" in source:
        chosen = [f"USEL {_UNIFORM_SCRATCH}, URZ, 0x1, {source}"]
        chosen.append(f"MOV {_SCRATCH}, {_UNIFORM_SCRATCH}")
    else:
        chosen = [f"SEL {_SCRATCH}, RZ, 0x1, {source}"]
    return [*chosen, f"ISETP.NE.AND P{target}, PT, {_SCRATCH}, RZ, PT"]


_INVERTED = ("BREAK", "SEL")
"""Opcodes whose predicate is also written as the opposite of another one."""


def _condition(
    i: Instruction, operand: Predicate, register: int
) -> Iterator[tuple[str, list[str], str]]:
    target = _PREDICATES[1 if register % _APART else 2]
    if operand.index is None:
        name, rule = ("PT", "PT")
        if operand.inverted:
            yield f"!P{target}", _predicate(target, f"!{name}"), "!PT"
        else:
            yield f"P{target}", _predicate(target, f"!{name}"), rule
        return
    name = operand.name
    if operand.inverted:
        yield f"P{target}", _predicate(target, name), "!P"
    elif i.opcode in _INVERTED and operand.file == "P":
        yield f"!P{target}", _predicate(target, name), "P"
    if operand.file == "UP":
        sign = "!" if operand.inverted else ""
        yield f"{sign}P{target}", _predicate(target, f"!{name}"), "UP"


# Addresses


def _address(
    i: Instruction, operand: Address, register: int
) -> Iterator[tuple[str, list[str], str]]:
    is_narrow = i.opcode.startswith(_IN_SHARED)
    terms = "+".join(".".join([t.file, *t.suffixes]) for t in operand.terms)
    low, high = f"R{register}", f"R{register + 1}"
    for offset in dict.fromkeys((operand.offset, 0)):
        inside = operand.offset - offset
        rule = f"{32 if is_narrow else 64} bits [{terms}{'+i' * bool(inside)}]"
        before = (_narrow_sum if is_narrow else _wide_sum)(operand, low, high, inside)
        end = f"+{offset:#x}" if offset else ""
        for suffix in ("",) if is_narrow else (".64", ""):
            yield f"[{low}{suffix}{end}]", before, rule


def _narrow_sum(operand: Address, low: str, _: str, offset: int) -> list[str]:
    lines = [f"MOV {low}, {offset & 0xFFFFFFFF:#x}"]
    for term in operand.terms:
        scale = int(term.suffixes[0][1:]).bit_length() - 1 if term.suffixes else 0
        name = Register(term.file, term.index).name
        if term.file == "UR":
            lines.append(f"MOV {_SCRATCH}, {name}")
            name = _SCRATCH
        lines.append(f"LEA {low}, {name}, {low}, {scale:#x}")
    return lines


def _wide_sum(operand: Address, low: str, high: str, offset: int) -> list[str]:
    lines = [f"MOV {low}, {offset & 0xFFFFFFFF:#x}", f"MOV {high}, {offset >> 32 & 0xFFFFFFFF:#x}"]
    for term in operand.terms:
        names = [Register(term.file, term.index).name, "RZ"]
        if term.suffixes != ("U32",):
            names[1] = term.following(1).name
        lines.append(f"IADD3 {low}, {_CARRY}, {low}, {names[0]}, RZ")
        lines.append(f"IADD3.X {high}, {high}, {names[1]}, RZ, {_CARRY}, !PT")
    return lines


DOCUMENTED = {
    ".STRONG.CTA as .STRONG.GPU": "PTX ISA, Scope: a wider one orders all that a narrower one does",
    ".STRONG.CTA as .STRONG.SYS": "the same",
    ".STRONG.SM as .STRONG.GPU": "the same",
    ".STRONG.SM as .STRONG.SYS": "the same",
    ".STRONG.GPU as .STRONG.SYS": "the same",
    "without .LU": "PTX ISA, Cache Operators: of the thread's own frame ld.lu gives what ld does",
}
"""Rules that the vendor's text says, and where: no kernel's result could show them."""
