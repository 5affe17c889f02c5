"""Concrete instructions of a form: registers, literals, what comes before, and a guard.

A form leaves open which registers and literals there are, but the lifter looks at some of that: the
zero register, an operand that is the target too, numbers that it can compute with, and whose carry
a predicate is. Each of these is an instance.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations

SHIFTS = range(32)
_BEYOND = (32, 33, 63, 64, 65, 255, 0x80000000, 0xFFFFFFFF)
_EDGES = (
    0, 1, 2, 31, 32, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE,
    0xFFFFFFFF,
)  # fmt: skip
_RANDOM_LITERALS, _SELECTORS, _TABLES_DRAWN = 3, 60, 48
_KNOWN_TABLES = (0, 0xFF, 0xF0, 0x0F, 0xCC, 0xAA, 0xC0, 0xFC, 0x3C, 0x96, 0xE8, 0xB8, 0xF8, 0x30)
_FEW = 2
"""Literals with which instances of unusual registers are made."""

_CONSTANT_LOADS = ("LDC", "ULDC", "LDCU")
_PARTS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2}
"""Bytes of what a load takes that is less than a word."""
_SCALED = ("LEA", "ULEA")
_SHIFTING = ("SHF", "USHF", "SHL", "USHL", "SGXT", "USGXT", "BMSK", "UBMSK")
_TABLES = ("LOP3", "ULOP3")
_MASKED = ("P2R", "UP2UR", "R2P", "UR2UP")


class NotInstantiable(Exception):
    """The form has an operand of which no instance is made here."""


@dataclass(frozen=True)
class Instance:
    """Instructions of a straight line, as nvdisasm would print them."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class _Slot:
    """One operand of a form: what is before its name, its kind, what is after it."""

    before: str
    kind: str
    """R, UR, P, UP, PT, c, i, name."""
    after: str
    is_target: bool
    register: str = ""

    def text(self, literal: str = "") -> str:
        if self.kind == "i":
            return literal
        return f"{self.before}{self.register}{self.after}"


def parse(form: str) -> tuple[str, list[_Slot]]:
    """Mnemonic and operands of a form. Raises :class:`NotInstantiable`."""
    mnemonic, _, listed = form.partition(" ")
    slots: list[_Slot] = []
    seen: dict[str, int] = {}
    is_uniform = mnemonic.startswith("U")
    for position, text in enumerate(listed.split(",") if listed else []):
        before = text[: len(text) - len(text.lstrip("-~!|"))]
        rest = text[len(before) :]
        bar = "|" if rest.endswith("|") else ""
        kind, dot, suffix = rest.removesuffix("|").partition(".")
        if kind not in ("R", "UR", "P", "UP", "PT", "c", "i", "name"):
            raise NotInstantiable(form)
        is_target = _is_target(mnemonic, slots, position, kind)
        register = _allotted(mnemonic, kind, seen, is_uniform=is_uniform)
        slots.append(_Slot(before, kind, f"{dot}{suffix}{bar}", is_target, register))
    return mnemonic, slots


def _is_target(mnemonic: str, slots: list[_Slot], position: int, kind: str) -> bool:
    opcode = mnemonic.partition(".")[0]
    if opcode in ("ISETP", "UISETP", "PLOP3", "UPLOP3"):
        return position < 2
    if opcode in ("R2P", "UR2UP"):
        return False
    if opcode in ("LOP3", "ULOP3") and position == 1 and slots[0].kind not in ("R", "UR"):
        return True
    if opcode in ("P2R", "UP2UR"):
        return position == 0
    is_leading_predicate = kind in ("P", "UP", "PT") and all(slot.is_target for slot in slots)
    return position == 0 or is_leading_predicate


def _allotted(mnemonic: str, kind: str, seen: dict[str, int], *, is_uniform: bool) -> str:
    number = seen[kind] = seen.get(kind, 0) + 1
    match kind:
        case "R" | "UR":
            return f"{kind}{4 * number}"
        case "P" | "UP":
            return f"{kind}{number - 1}"
        case "PT":
            return "UPT" if is_uniform else "PT"
        case "c":
            return _constant(0x168 + 0x10 * number)
        case "name":
            return "UPR" if is_uniform else "PR"
    return ""


def _constant(offset: int) -> str:
    return f"c[0x0][{offset:#x}]"


def instances(form: str) -> list[Instance]:
    """All instances of one form alone. Raises :class:`NotInstantiable`."""
    mnemonic, slots = parse(form)
    literals = _literals(mnemonic, slots)
    few = literals if len(literals) <= _FEW else random.Random(form).sample(literals, _FEW)
    made = [_written(mnemonic, slots, each) for each in literals]
    for changed in chain(_unusual(slots), _of_parts_of_words(mnemonic, slots)):
        made += [_written(mnemonic, changed, each) for each in few]
    guard = "UP6" if mnemonic.startswith("U") else "P6"
    made += [f"@{sign}{guard} {made[0]}" for sign in ("", "!")]
    return [Instance((text,)) for text in dict.fromkeys(made)]


def _written(mnemonic: str, slots: list[_Slot], literals: tuple[int, ...]) -> str:
    values = iter(literals)
    operands = [slot.text(f"{next(values):#x}" if slot.kind == "i" else "") for slot in slots]
    return f"{mnemonic} {', '.join(operands)}"


def _unusual(slots: list[_Slot]) -> Iterator[list[_Slot]]:
    """The zero register in each subset of sources; each source and target, or two sources, one."""
    sources = [n for n, slot in enumerate(slots) if slot.kind in ("R", "UR") and not slot.is_target]
    subsets = chain.from_iterable(combinations(sources, k) for k in range(1, len(sources) + 1))
    for subset in subsets:
        yield [
            replace(slot, register=f"{slot.kind}Z") if n in subset else slot
            for n, slot in enumerate(slots)
        ]
    for one, other in combinations(range(len(slots)), 2):
        same_kind = slots[one].kind == slots[other].kind
        if same_kind and slots[one].register and not slots[other].is_target:
            shared = replace(slots[other], register=slots[one].register)
            yield [*slots[:other], shared, *slots[other + 1 :]]


def _of_parts_of_words(mnemonic: str, slots: list[_Slot]) -> Iterator[list[_Slot]]:
    """Loads of each byte, or half, of a word of a constant bank."""
    modifiers = mnemonic.split(".")
    if modifiers[0] not in _CONSTANT_LOADS or modifiers[-1] not in _PARTS:
        return
    for offset in range(0x180, 0x184, _PARTS[modifiers[-1]]):
        yield [replace(s, register=_constant(offset)) if s.kind == "c" else s for s in slots]


def _literals(mnemonic: str, slots: list[_Slot]) -> list[tuple[int, ...]]:
    count = sum(slot.kind == "i" for slot in slots)
    if not count:
        return [()]
    draw = random.Random(mnemonic + str(count))
    opcode = mnemonic.partition(".")[0]
    general = [*_EDGES, *(draw.getrandbits(32) for _ in range(_RANDOM_LITERALS))]
    if _is_long(mnemonic):
        general = _long_literals(opcode, general, draw)
    if opcode in _SCALED:
        scales = [(scale,) for scale in SHIFTS]
        return _with_general(scales, general, count - 1, draw)
    if opcode in _TABLES:
        tables = [(table,) for table in _tables(slots, draw)]
        return _with_general(tables, general, count - 1, draw)
    if opcode in ("PLOP3", "UPLOP3"):
        if count != 2:
            raise NotInstantiable(mnemonic)
        others = draw.sample(range(256), 256)
        return [(table, others[table]) for table in _tables(slots, draw)]
    if count > 1:
        raise NotInstantiable(f"{mnemonic} with {count} literals")
    if opcode in _SHIFTING:
        return [(number,) for number in (*SHIFTS, *_BEYOND)]
    if opcode in _MASKED:
        return [(mask,) for mask in range(128)]
    if opcode in ("PRMT", "UPRMT"):
        return [
            (number,) for number in (*general, *(draw.getrandbits(16) for _ in range(_SELECTORS)))
        ]
    return [(number,) for number in general]


def _is_long(mnemonic: str) -> bool:
    """Whether literals have 64 bits, or the sign of as many."""
    return not {"64", "U64", "S64"}.isdisjoint(mnemonic.split(".")[1:])


def _long_literals(opcode: str, words: list[int], draw: random.Random) -> list[int]:
    """Of moves 64 bits; others have 32 and extend the sign, which nvdisasm prints."""
    if opcode in ("MOV", "UMOV"):
        wide = [draw.getrandbits(64) for _ in range(_RANDOM_LITERALS)]
        return [*words, *(~each & (1 << 64) - 1 for each in words), *wide]
    return [each - (1 << 32) if each >> 31 else each for each in words]


def _tables(slots: list[_Slot], draw: random.Random) -> list[int]:
    """All truth tables where all inputs are registers, of other forms well-known and drawn ones."""
    inputs = [slot.kind for slot in slots if not slot.is_target and slot.kind != "i"][:3]
    if set(inputs) <= {"R", "P"}:
        return list(range(256))
    return sorted({*_KNOWN_TABLES, *draw.sample(range(256), _TABLES_DRAWN)})


def _with_general(
    last: list[tuple[int, ...]], general: list[int], others: int, draw: random.Random
) -> list[tuple[int, ...]]:
    """Each value of the last literal; where there is one before it, with some values of that."""
    if others == 0:
        return last
    if others > 1:
        raise NotInstantiable("three literals")
    fixed = (0, 1, 0x80000000, 0xFFFFFFFF)
    return [(first, *each) for each in last for first in {fixed[each[0] % 4], draw.choice(general)}]


# What comes before


def producers(form: str, others: list[str]) -> Iterator[Instance]:
    """``form`` after each of ``others`` that makes a carry or comparison for it."""
    mnemonic, slots = parse(form)
    takes = [slot for slot in slots if slot.kind in ("P", "UP") and not slot.is_target]
    opcode = mnemonic.partition(".")[0]
    is_wide = mnemonic.endswith((".X", ".EX")) or ".X." in mnemonic
    if not is_wide or not takes:
        return
    wanted = takes[-1 if mnemonic.endswith(".EX") else 0].register
    for other in _of_different_terms(others):
        producer, made = parse(other)
        gives = [slot for slot in made if slot.kind == takes[0].kind and slot.is_target]
        if not gives or _is_comparison(producer) != (opcode in ("ISETP", "UISETP")):
            continue
        if not starts_a_chain(other):
            continue
        yield from _chained(form, slots, other, made, wanted)


def starts_a_chain(form: str) -> bool:
    """Whether it makes a carry or comparison of low words that the lifter remembers."""
    mnemonic, slots = parse(form)
    if mnemonic.endswith((".EX", ".X")) or ".X." in mnemonic:
        return False
    if _is_comparison(mnemonic):
        return slots[-1].kind == "PT"
    opcode = mnemonic.partition(".")[0].removeprefix("U")
    return opcode in ("IADD3", "LEA", "IMAD") and any(s.kind in ("P", "UP") for s in slots)


def _is_comparison(mnemonic: str) -> bool:
    return mnemonic.partition(".")[0] in ("ISETP", "UISETP")


def _of_different_terms(forms: list[str]) -> Iterator[str]:
    """One of the forms that differ only in where their terms are, or in carries that are dropped:
    the lifter keeps values."""
    seen: set[str] = set()
    for form in forms:
        mnemonic, _, listed = form.partition(" ")
        terms = listed.replace("UR", "R").replace("c", "R").replace(",UPT", ",PT")
        kept = f"{mnemonic} {terms.replace(',PT', '')}"
        if kept not in seen:
            seen.add(kept)
            yield form


def _chained(
    form: str, slots: list[_Slot], other: str, made: list[_Slot], wanted: str
) -> Iterator[Instance]:
    """The producer with registers of its own, and with the consumer's first source."""
    mnemonic, producer = form.partition(" ")[0], other.partition(" ")[0]
    given = next(slot for slot in made if slot.is_target and slot.kind in ("P", "UP"))
    second = "UP5" if given.kind == "UP" else "P5"
    names = {given.register: wanted}
    names |= {
        s.register: second for s in made if s.is_target and s.kind == given.kind and s != given
    }
    apart = [_moved(slot, names) for slot in made]
    shared_source = next((s for s in slots if s.kind in ("R", "UR") and not s.is_target), None)
    draw = random.Random(form + other)
    choices = _literals(producer, made), _literals(mnemonic, slots)
    first, then = (draw.choice(each) for each in choices)
    yield Instance((_written(producer, apart, first), _written(mnemonic, slots, then)))
    if shared_source is None:
        return
    place = next(
        (n for n, s in enumerate(apart) if s.kind == shared_source.kind and not s.is_target), None
    )
    if place is None:
        return
    joined = list(apart)
    joined[place] = replace(apart[place], register=shared_source.register)
    first, then = (draw.choice(each) for each in choices)
    if {name.partition(".")[0] for name in (producer, mnemonic)} <= set(_SCALED):  # one scale
        first = (*first[:-1], then[-1])
    yield Instance((_written(producer, joined, first), _written(mnemonic, slots, then)))


def _moved(slot: _Slot, names: dict[str, str]) -> _Slot:
    """The producer's registers are others than the consumer's."""
    if slot.register in names:
        return replace(slot, register=names[slot.register])
    if slot.kind in ("R", "UR"):
        return replace(slot, register=f"{slot.kind}{int(slot.register[len(slot.kind) :]) + 28}")
    if slot.kind == "c":
        return replace(slot, register="c[0x0][0x1c0]")
    return slot


_POOLS = {
    "R": ("R4", "R8", "R12", "R16"),
    "UR": ("UR4", "UR8", "UR12"),
    "P": ("P0", "P1", "P2"),
    "UP": ("UP0", "UP1"),
}


def sequence(forms: list[str], length: int, seed: int) -> Instance:
    """Instructions of forms drawn, with few registers: each uses what others have made."""
    draw = random.Random(seed)
    lines = []
    while len(lines) < length:
        mnemonic, slots = parse(draw.choice(forms))
        chosen = [
            replace(slot, register=draw.choice(_POOLS[slot.kind])) if slot.kind in _POOLS else slot
            for slot in slots
        ]
        targets = [slot.register for slot in chosen if slot.is_target and slot.register]
        if len(set(targets)) == len(targets):  # of two results in one register nothing is known
            lines.append(_written(mnemonic, chosen, draw.choice(_literals(mnemonic, slots))))
    return Instance(tuple(lines))
