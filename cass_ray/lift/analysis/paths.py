"""Code without loops as terms: a way that is one path, with every path through a subroutine on it.

What all paths of a subroutine give has one digest, whatever the order in which it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from cass_ray.lift.analysis.term_steps import State, TermSteps, Unread
from cass_ray.lift.analysis.terms import Terms
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES, CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Predicate, Register

_MOST_STEPS = 20_000
"""Instructions on all paths of a subroutine; those of ptxas' longest division have 2,048."""

_MOST_DECISIONS = 100
"""Conditions on one of them; that division has 24."""

Decisions = Mapping[int, bool]
"""What conditions are on a path."""


@dataclass(frozen=True)
class PathOutcome:
    """The end of one path: what was decided on it, and what it changed."""

    decisions: Decisions
    changed: Mapping[str, int]


@dataclass(frozen=True)
class Subroutine:
    """What comes of a subroutine, given what registers hold before it."""

    terms: Terms
    read: Mapping[str, int]
    """What it reads of the registers before."""
    outcomes: Sequence[PathOutcome]
    results: Mapping[str, int]
    """Each register that one of the paths changes has a leaf, by which it is known afterwards."""
    _digests: dict[tuple[int, ...], bytes] = field(default_factory=dict)

    def digest(self, results: tuple[int, ...]) -> bytes:
        """Digest of what all paths leave in the registers that ``results`` are the leaves of.

        Raises :class:`Unread` for one that is no such leaf, or that a path leaves as it was.
        """
        if results not in self._digests:
            names = {leaf: name for name, leaf in self.results.items()}
            if not all(leaf in names for leaf in results):
                raise Unread
            registers = [names[leaf] for leaf in results]
            if not all(name in each.changed for each in self.outcomes for name in registers):
                raise Unread
            digests = [
                (
                    each.decisions,
                    b"".join(self.terms.digest(each.changed[name]) for name in registers),
                )
                for each in self.outcomes
            ]
            self._digests[results] = digest(self.terms, digests)
        return self._digests[results]


@dataclass(frozen=True)
class PathTerms:
    """What registers hold at the end of one path, and the subroutine that is called on it."""

    state: State
    subroutine: Subroutine | None


class _Undecided(Exception):
    def __init__(self, condition: int) -> None:
        self.condition = condition


def called(code: CodeSection, i: DecodedInstruction) -> int | None:
    """The address of the subroutine in the same function that ``i`` calls always."""
    if i.mnemonic != "CALL.REL.NOINC" or i.guard is not None or len(i.operands) != 1:
        return None
    name = i.operands[0]
    labels = code.function.labels
    address = labels.get(name.text) if isinstance(name, Name) else None
    return address if address in code.entries else None


class Paths:
    """Follows code of one function."""

    def __init__(self, terms: Terms, steps: TermSteps, code: CodeSection) -> None:
        self._terms = terms
        self._steps = steps
        self._code = code
        self._left = 0
        self._return = terms.leaf("return address")
        self._known: dict[int, list[Subroutine]] = {}
        """Subroutines by their entries and what was in registers before them."""

    def terms_of_path(self, start: int, end: int, before: Callable[[str], int]) -> PathTerms:
        """The only path from ``start`` to ``end``. Raises :class:`Unread`."""
        self._left = _MOST_STEPS
        state = State(before)
        subroutine: Subroutine | None = None
        address = start
        while address != end:
            i = self._instruction(address)
            if i.opcode == "CALL":
                if subroutine is not None:
                    raise Unread
                subroutine = self._subroutine(i, state)
                state.changed.update(subroutine.results)
                address += INSTRUCTION_BYTES
                continue
            try:
                following = self._step(i, state, {})
            except _Undecided:
                raise Unread from None
            if following is None:
                raise Unread
            address = following
        return PathTerms(state, subroutine)

    def _subroutine(self, call: DecodedInstruction, state: State) -> Subroutine:
        callee = called(self._code, call)
        if callee is None:
            raise Unread
        address = self._terms.const(call.address + INSTRUCTION_BYTES)
        read: dict[str, int] = {}

        def before(name: str) -> int:
            held = state[name]
            read[name] = self._return if held == address else held
            return read[name]

        for earlier in self._known.setdefault(callee, []):
            if all(before(name) == held for name, held in earlier.read.items()):
                return earlier
        read.clear()
        outcomes = self._follow(callee, State(before), {})
        number = len(self._known[callee])
        leaves = {
            name: self._terms.leaf(f"{name} of subroutine {callee} {number}")
            for outcome in outcomes
            for name in outcome.changed
        }
        subroutine = Subroutine(self._terms, read, outcomes, leaves)
        self._known[callee].append(subroutine)
        return subroutine

    def _follow(self, address: int, state: State, decisions: Decisions) -> list[PathOutcome]:
        """Paths from ``address`` to the return of the subroutine."""
        while True:
            try:
                following = self._step(self._instruction(address), state, decisions)
            except _Undecided as undecided:
                if len(decisions) == _MOST_DECISIONS:
                    raise Unread from None
                return [
                    outcome
                    for holds in (False, True)
                    for outcome in self._follow(
                        address, state.copy(), {**decisions, undecided.condition: holds}
                    )
                ]
            if following is None:
                return [PathOutcome(decisions, state.changed)]
            address = following

    def _step(self, i: DecodedInstruction, state: State, decisions: Decisions) -> int | None:
        """Do one instruction; the address of the next, none behind a return."""

        def decide(condition: int) -> bool:
            return self._decided(condition, decisions)

        next_address = i.address + INSTRUCTION_BYTES
        if i.guard is not None and not decide(self._steps.condition(state, i.guard)):
            return next_address
        if i.opcode == "BRA":
            return self._branch(i, state, decide, next_address)
        if i.opcode == "RET":
            self._check_return(i, state)
            return None
        self._steps.step(state, i, decide)  # which knows no calls: one inside another is not read
        return next_address

    def _branch(
        self,
        i: DecodedInstruction,
        state: State,
        decide: Callable[[int], bool],
        next_address: int,
    ) -> int:
        *conditions, target = i.operands
        if i.modifiers or not isinstance(target, Name):
            raise Unread
        for each in conditions:
            if not isinstance(each, Predicate):
                raise Unread
            if not decide(self._steps.condition(state, each)):
                return next_address
        address = self._code.function.labels.get(target.text)
        if address is None:
            raise Unread
        return address

    def _check_return(self, i: DecodedInstruction, state: State) -> None:
        """That it goes to where the subroutine was called from."""
        register, base = i.operands[0], i.operands[-1]
        labels = self._code.function.labels
        if i.mnemonic != "RET.REL.NODEC" or not isinstance(register, Register):
            raise Unread
        starts = isinstance(base, Name) and base.text == self._code.name
        if not starts and not (isinstance(base, Name) and labels.get(base.text) == 0):
            raise Unread
        high = state[register.following(1).name]
        if state[register.name] != self._return or high != self._terms.const(0):
            raise Unread

    def _decided(self, condition: int, decisions: Decisions) -> bool:
        terms, steps = self._terms, self._steps
        if condition in (steps.true, steps.false):
            return condition == steps.true
        operator = terms.operator(condition)
        if operator == "not":
            return not self._decided(terms.operands(condition)[0], decisions)
        if operator == "both":
            left, right = terms.operands(condition)
            return self._decided(left, decisions) and self._decided(right, decisions)
        if condition not in decisions:
            raise _Undecided(condition)
        return decisions[condition]

    def _instruction(self, address: int) -> DecodedInstruction:
        self._left -= 1
        position = self._code.position.get(address)
        if position is None or self._left < 0:
            raise Unread
        return self._code.instructions[position]


def digest(terms: Terms, outcomes: list[tuple[Decisions, bytes]]) -> bytes:
    """One for all paths: the same if the results are, in whatever order conditions are tested.

    A decision diagram with its conditions in one order, without those that decide nothing: first
    those that are made of little, of which there are few.
    """
    conditions = {each for decisions, _ in outcomes for each in decisions}
    order = sorted(conditions, key=lambda each: (terms.depth(each), terms.digest(each)))

    return _Diagram(terms, outcomes, order).below(0, tuple(range(len(outcomes))))


class _Diagram:
    """A decision diagram, of which no part is read twice."""

    def __init__(
        self, terms: Terms, outcomes: list[tuple[Decisions, bytes]], order: list[int]
    ) -> None:
        self._terms, self._outcomes, self._order = terms, outcomes, order
        self._known: dict[tuple[int, tuple[int, ...]], bytes] = {}

    def below(self, place: int, paths: tuple[int, ...]) -> bytes:
        """The digest of ``paths``, of which the conditions before ``place`` are decided."""
        digest = self._known.get((place, paths))
        if digest is None:
            digest = self._known[place, paths] = self._read(place, paths)
        return digest

    def _read(self, place: int, paths: tuple[int, ...]) -> bytes:
        results = {self._outcomes[each][1] for each in paths}
        if len(results) == 1:
            return results.pop()
        condition = self._order[place]
        sides = []
        for holds in (False, True):
            remaining = (n for n in paths if self._outcomes[n][0].get(condition, holds) == holds)
            sides.append(self.below(place + 1, tuple(remaining)))
        if sides[0] == sides[1]:
            return sides[0]
        return sha256(b"".join((self._terms.digest(condition), *sides))).digest()
