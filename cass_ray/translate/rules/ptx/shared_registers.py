"""``asm`` statements of one function that hand registers or the carry to one another.

PTX has one carry and the registers of a scope for all statements of a function, as inlined code is
one text for ptxas. So ``add.cc`` in one statement and ``addc`` in the next, in a loop between them,
or ``.reg .pred p`` in one and ``@p`` in another, work in CUDA. Here they are variables at the
beginning of the function's body. What another function leaves is not known, and is refused: a
branch that takes it, as templates have for other widths, ends the program where it is reached.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from cass_ray.translate.rules.ptx.registers import (
    OtherStatementError,
    RegisterState,
    UnknownInstructionError,
)
from cass_ray.translate.rules.rewrite import Rewrite

_SHARED = re.compile(r"\b(?:addc|subc|madc)\b|\.reg\b")
_BEFORE_BODY = re.compile(
    r"\)\s*(?:(?:const|volatile|noexcept|override|final|mutable|constexpr|&{1,2})\s*)*"
    r"(?:->\s*[\w:<>,*&\s]{1,200})?\Z"
)
_CONTROL = re.compile(r"\b(?:if|for|while|switch|catch|constexpr)\s*\Z")
_IF = re.compile(r"\bif\s*(?:constexpr\s*)?\Z")
_MOST_CHARACTERS_OF_A_HEAD = 400


@dataclass
class Shared:
    """What the statements of one function share so far."""

    registers: dict[str, tuple[str, str]] = field(default_factory=dict)
    declarations: dict[str, str] = field(default_factory=dict)
    sets_carry: bool = False

    def state(self) -> RegisterState:
        """That of the next statement."""
        return RegisterState(
            dict(self.registers),
            sets_carry=self.sets_carry,
            declarations=dict(self.declarations),
        )

    def take(self, state: RegisterState) -> None:
        """Keep what a statement declared or set."""
        self.declarations = state.declarations
        self.registers = {
            name: (kind, variable)
            for name, (kind, variable) in state.registers.items()
            if variable in state.declarations
        }
        self.sets_carry = state.sets_carry

    @property
    def text(self) -> str:
        """The declarations of all of it."""
        carry = ["unsigned int cass_carry = 0;"] if self.sets_carry else []
        return " ".join([*carry, *self.declarations.values()])


Translated = tuple[int, str]
"""The end of a statement, and the C++ for it."""
Translate = Callable[[Rewrite, int, Shared | None], Translated | None]
"""Translates the statement behind an offset; raises :class:`UnknownInstructionError`."""


def translate(
    unit: Rewrite, words: tuple[str, ...], translate_one: Translate
) -> tuple[dict[int, Translated], dict[int, str]]:
    """The statements, by where they begin, of functions in which some need what others left.

    And what is refused of them.
    """
    found: dict[int, Translated] = {}
    refused: dict[int, str] = {}
    if not _SHARED.search(unit.source.text):
        return found, refused
    places = sorted((offset, word) for word in words for offset in unit.words.get(word, ()))
    functions = {
        body: [place for place in places if body < place[0] < unit.source.closing(body)]
        for body in dict.fromkeys(_needing(unit, places, translate_one))
    }
    for body, statements in functions.items():
        shared = Shared()
        made: dict[int, Translated] = {}
        left: dict[int, str] = {}
        try:
            for offset, word in statements:
                if _body_of(unit, offset) != body:
                    continue
                try:
                    if each := translate_one(unit, offset + len(word), shared):
                        made[offset] = each
                except OtherStatementError as error:
                    if not _is_in_branch(unit, offset):
                        raise
                    end = unit.source.closing(unit.source.code.find("(", offset)) + 1
                    made[offset] = (end, "__builtin_trap()")
                    left[offset] = str(error)
        except UnknownInstructionError:
            continue
        found.update(made)
        refused.update(left)
        unit.edits.insert(body + 1, f" {shared.text}")
    return found, refused


def _needing(unit: Rewrite, places: list[tuple[int, str]], translate_one: Translate) -> list[int]:
    """Bodies of functions with a statement that needs what another one left."""
    bodies = []
    for offset, word in places:
        try:
            translate_one(unit, offset + len(word), None)
        except OtherStatementError:
            bodies.append(_body_of(unit, offset))
        except UnknownInstructionError:
            continue
    return [body for body in bodies if body >= 0]


def _body_of(unit: Rewrite, offset: int) -> int:
    """The brace that opens the body of the innermost function around ``offset``; -1 for none."""
    code = unit.source.code
    for brace in unit.source.enclosing_braces(offset):
        head = _BEFORE_BODY.search(code, max(0, brace - _MOST_CHARACTERS_OF_A_HEAD), brace)
        if head is None:
            continue
        opening = _opening(code, head.start())
        if opening >= 0 and not _CONTROL.search(code, max(0, opening - 40), opening):
            return brace
    return -1


def _is_in_branch(unit: Rewrite, offset: int) -> bool:
    """Whether the innermost braces around ``offset`` are those of ``if`` or ``else``."""
    code = unit.source.code
    head = code[: unit.source.enclosing_braces(offset)[0]].rstrip()
    opening = _opening(head, len(head) - 1) if head.endswith(")") else -1
    return head.endswith("else") or (
        opening >= 0 and _IF.search(head, max(0, opening - 40), opening) is not None
    )


def _opening(code: str, closing: int) -> int:
    depth = 0
    for at in range(closing, max(-1, closing - 4096), -1):
        depth += (code[at] == ")") - (code[at] == "(")
        if depth == 0:
            return at
    return -1
