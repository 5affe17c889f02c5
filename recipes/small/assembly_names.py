"""The same machine code in other names: registers of SASS, and names of kernels on both sides.

Which register a value is in is the compiler's choice; a translation that is right for one choice is
right for all. So a pair gives as many questions as there are choices, with one answer.

Registers move in aligned fours, as the widest loads and stores need them; the first four stay, for
R1 is the stack pointer. Matrix instructions take longer runs, and ``P2R`` and ``R2P`` know
predicates by their numbers: where such stand, the names in question stay.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_RUN = 4
_REGISTER = re.compile(r"(?<![\w.$])(U?R)(\d+)(?![\w$])")
_PREDICATE = re.compile(r"(?<![\w.$])(U?P)(\d)(?![\w$])")
_MATRICES = re.compile(r"MMA|LDSM|STSM|TMEM|LDT|STT|UTC")
_NUMBERED = re.compile(r"\bU?(?:P2U?R|R2U?P)\b")
_MANGLED = re.compile(r"\b_Z(\d+)")


def other_registers(sass: str, chance: random.Random) -> str:
    """``sass``, normalized, with registers and predicates exchanged among those that it uses."""
    if not _MATRICES.search(sass):
        sass = _exchanged(sass, _REGISTER, chance, _RUN, fixed=1)
    if not _NUMBERED.search(sass):
        sass = _exchanged(sass, _PREDICATE, chance, 1, fixed=0)
    return sass


def _exchanged(
    sass: str, names: re.Pattern[str], chance: random.Random, run: int, fixed: int
) -> str:
    lines = sass.split("\n")
    code = [number for number, line in enumerate(lines) if not line.startswith(("Function :", "."))]
    used: dict[str, set[int]] = {}
    for number in code:
        for kind, register in names.findall(lines[number]):
            used.setdefault(kind, set()).add(int(register) // run)
    places = {kind: _shuffled(runs, chance, fixed) for kind, runs in used.items()}

    def renamed(match: re.Match[str]) -> str:
        place, inside = divmod(int(match[2]), run)
        return f"{match[1]}{places[match[1]][place] * run + inside}"

    for number in code:
        lines[number] = names.sub(renamed, lines[number])
    return "\n".join(lines)


def _shuffled(runs: set[int], chance: random.Random, fixed: int) -> dict[int, int]:
    """Where each run of registers goes; those below ``fixed`` stay."""
    free = sorted(place for place in runs if place >= fixed)
    moved = free.copy()
    chance.shuffle(moved)
    return {place: place for place in runs} | dict(zip(free, moved, strict=True))


def other_names(
    sides: tuple[str, ...], chance: random.Random, invent: Callable[[random.Random], str]
) -> tuple[str, ...]:
    """``sides`` of one pair with the first name of each mangled symbol replaced by an invented one.

    ``_Z5scalePfi`` and ``_Z5scaleIfEvPT_i`` change alike; C names stay.
    """
    found: dict[str, None] = {}
    for match in _MANGLED.finditer(sides[0]):
        size = int(match[1])
        name = sides[0][match.end() : match.end() + size]
        if len(name) == size and re.fullmatch(r"[A-Za-z_]\w*", name):
            found.setdefault(match[1] + name)
    taken: set[str] = set()
    for old in found:
        new = invent(chance)
        if new in taken:
            continue
        taken.add(new)
        pattern = re.compile(rf"(?<=_Z){re.escape(old)}")
        sides = tuple(pattern.sub(f"{len(new)}{new}", side) for side in sides)
    return sides
