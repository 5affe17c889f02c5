"""Every path through code without loops, as terms; and one digest for what all of them give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from cass_ray.lift.analysis.term_steps import State, Steps, Unread
from cass_ray.lift.analysis.terms import Terms
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES, CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Name, Predicate, Register

_MOST_STEPS = 20_000
"""Instructions on all paths of one piece of code; ptxas' longest division has 3,000."""

Decisions = Mapping[int, bool]
"""What conditions are on a path."""


@dataclass(frozen=True)
class Outcome:
    """The end of one path: what was decided on it, and what it changed."""

    decisions: Decisions
    changed: dict[str, int]


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

    def __init__(self, terms: Terms, steps: Steps, code: CodeSection) -> None:
        self._terms = terms
        self._steps = steps
        self._code = code
        self._left = _MOST_STEPS
        self._return = terms.leaf("return address")
        self._known: dict[int, list[tuple[dict[str, int], list[Outcome]]]] = {}
        """Of subroutines: what was read of the registers before, and what came of it."""

    def between(self, start: int, end: int, before: Callable[[str], int]) -> list[Outcome]:
        """Paths from ``start`` to ``end``. Raises :class:`Unread`."""
        self._left = _MOST_STEPS
        return self._follow(start, end, State(before), {})

    def _follow(
        self, address: int, end: int | None, state: State, decisions: Decisions
    ) -> list[Outcome]:
        """Paths from ``address`` to ``end``, or to the return of a subroutine."""
        while address != end:
            i = self._instruction(address)
            try:
                following = self._step(i, state, decisions)
            except _Undecided as found:
                return [
                    outcome
                    for holds in (False, True)
                    for outcome in self._follow(
                        address, end, state.copy(), {**decisions, found.condition: holds}
                    )
                ]
            if following is None:
                if end is not None:
                    raise Unread
                break
            if i.opcode == "CALL":
                return self._after_call(i, end, state, decisions)
            address = following
        return [Outcome(decisions, state.changed)]

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
        if i.opcode != "CALL":
            self._steps.step(state, i, decide)
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

    def _after_call(
        self, i: DecodedInstruction, end: int | None, state: State, decisions: Decisions
    ) -> list[Outcome]:
        callee = called(self._code, i)
        if callee is None or decisions:
            raise Unread
        resume = i.address + INSTRUCTION_BYTES
        found: list[Outcome] = []
        for outcome in self._subroutine(callee, resume, state):
            after = State(state.before, {**state.changed, **outcome.changed})
            found += self._follow(resume, end, after, outcome.decisions)
        return found

    def _subroutine(self, callee: int, resume: int, state: State) -> list[Outcome]:
        address = self._terms.const(resume)
        read: dict[str, int] = {}

        def before(name: str) -> int:
            held = state[name]
            read[name] = self._return if held == address else held
            return read[name]

        for known, outcomes in self._known.setdefault(callee, []):
            if all(before(name) == held for name, held in known.items()):
                return outcomes
        read.clear()
        outcomes = self._follow(callee, None, State(before), {})
        self._known[callee].append((read, outcomes))
        return outcomes

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

    @cache
    def below(place: int, paths: tuple[int, ...]) -> bytes:
        results = {outcomes[each][1] for each in paths}
        if len(results) == 1:
            return results.pop()
        condition = order[place]
        ways = []
        for holds in (False, True):
            kept = (n for n in paths if outcomes[n][0].get(condition, holds) == holds)
            ways.append(below(place + 1, tuple(kept)))
        if ways[0] == ways[1]:
            return ways[0]
        return sha256(b"".join((terms.digest(condition), *ways))).digest()

    return below(0, tuple(range(len(outcomes))))
