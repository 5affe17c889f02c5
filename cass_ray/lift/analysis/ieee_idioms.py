"""Divisions, reciprocals and square roots that ptxas writes in two ways: found as what they are.

``a / b`` is an estimate, Newton's steps, and a test whether that was enough; else a subroutine of
ptxas' computes it anew::

    MUFU.RCP64H R3, R7 ...               y, nearly 1 / b
    DFMA R2, R2, R12, R8                 q = y * (a - b * q0) + q0
    FSETP.GT.AND P0, PT, |R0|, ...       far from overflow and from denormal numbers?
    @P0 BRA P1, `(.L_1)                  P1: nor is a near them
    CALL.REL.NOINC `(...)                q, the long way
    .L_1:

By CUDA's programming guide both together are the quotient of IEEE 754, rounded to nearest, for all
operands. It is a digest of both that says so (:mod:`.ieee_idiom_digests`): of the test, of the
result where it holds, and of that on every path through the subroutine where it does not, as terms
over the operands (:mod:`.terms`). ptxas schedules each copy anew, and gives it other registers.

What else the subroutine changes must not be read any more, and what is read there of the registers
before is what the operands are taken from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from cass_ray.lift.analysis.ieee_idiom_digests import OPERATIONS
from cass_ray.lift.analysis.kernel_graph import KernelGraph
from cass_ray.lift.analysis.liveness import CodePlace, LivenessBlock, RegisterAccess, live_at_starts
from cass_ray.lift.analysis.paths import Paths, called
from cass_ray.lift.analysis.term_steps import State, TermSteps, Unread
from cass_ray.lift.analysis.terms import Terms
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES, CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Constant, Name, Operand, Predicate, Register

_LONGEST_PATH = 4
"""Blocks from the test to where both paths join."""
Blocks = Mapping[CodePlace, LivenessBlock]
Section = Callable[[str], CodeSection]


@dataclass(frozen=True)
class RecognizedOperation:
    """An IEEE 754 operation that a branch, its test and its subroutine compute together."""

    name: str
    """``division.f64``"""
    sources: tuple[tuple[Operand, ...], ...]
    """The words of each operand, the low one first."""
    results: tuple[Register, ...]
    following: int
    """Where both paths join."""


@dataclass(frozen=True)
class _Fork:
    """A branch, one side of which calls a subroutine."""

    place: CodePlace
    """The block that it ends."""
    branch: DecodedInstruction
    takes_fast: bool
    """Whether the fast path is where it branches to."""
    fast: int
    slow: int
    callee: int
    join: int
    both_paths: frozenset[CodePlace]
    """Blocks of both, without the subroutine's."""


def recognized_operations(graph: KernelGraph) -> dict[CodePlace, RecognizedOperation]:
    """Recognized operations by the place of the branch."""
    blocks, section = graph.blocks, graph.code
    forks = list(_forks(blocks, section))
    if not forks:
        return {}
    subroutines = _subroutines(blocks, {(fork.place[0], fork.callee) for fork in forks}, section)
    live = live_at_starts(_without_callees(blocks, subroutines, section))
    before = _sole_predecessors(blocks, section)
    terms = Terms()
    steps = TermSteps(terms)
    readers: dict[str, _Reader] = {}
    operations: dict[CodePlace, RecognizedOperation] = {}
    for fork in forks:
        function = fork.place[0]
        callee = subroutines.get((function, fork.callee))
        if callee is None:
            continue
        if function not in readers:
            readers[function] = _Reader(blocks, section(function), terms, steps, before)
        written = _written({**{place: blocks[place] for place in fork.both_paths}, **callee})
        changed = live[function, fork.join] & written
        try:
            operation = readers[function].operation(fork, changed, live[function, fork.slow])
        except Unread:
            continue
        operations[function, fork.branch.address] = operation
    return operations


# Forks


def _forks(blocks: Blocks, section: Section) -> Iterator[_Fork]:
    for place, block in blocks.items():
        code = section(place[0])
        last = _last(block, code)
        if last is None or last.opcode != "BRA" or last.modifiers or len(block.successors) != 2:
            continue
        target = last.operands[-1]
        taken = code.function.labels.get(target.text) if isinstance(target, Name) else None
        next_address = last.address + INSTRUCTION_BYTES
        if taken is None:
            continue
        for takes_fast, fast, slow in ((True, taken, next_address), (False, next_address, taken)):
            call = _last(blocks.get((place[0], slow)), code)
            callee = called(code, call) if call is not None else None
            if call is None or callee is None:
                continue
            path = _straight_path(blocks, (place[0], fast))
            back = _straight_path(blocks, (place[0], call.address + INSTRUCTION_BYTES))
            join = next((each for each in back if each in path), None)
            if join is not None:
                own = *back[: back.index(join)], *path[: path.index(join)]
                both_paths = frozenset(((place[0], slow), *own))
                yield _Fork(place, last, takes_fast, fast, slow, callee, join[1], both_paths)


def _last(block: LivenessBlock | None, code: CodeSection) -> DecodedInstruction | None:
    if block is None or not block.accesses:
        return None
    (_, address), _ = block.accesses[-1]
    return code.instructions[code.position[address]]


def _straight_path(blocks: Blocks, place: CodePlace) -> list[CodePlace]:
    """``place`` and what follows it, as long as it is one block."""
    path = [place]
    while len(path) < _LONGEST_PATH and place in blocks and len(blocks[place].successors) == 1:
        (place,) = blocks[place].successors
        path.append(place)
    return path


def _sole_predecessors(blocks: Blocks, section: Section) -> dict[CodePlace, CodePlace]:
    """The one block before each, where there is one, and nothing is called between.

    Where a function begins there are its callers, too, or the launch.
    """
    before: dict[CodePlace, set[CodePlace]] = {}
    for place, block in blocks.items():
        for successor in block.successors:
            before.setdefault(successor, set()).add(place)
    predecessors: dict[CodePlace, CodePlace] = {}
    for place, others in before.items():
        function, address = place
        if len(others) > 1 or address == 0 or address in section(function).entries:
            continue
        (other,) = others
        last = _last(blocks[other], section(other[0]))
        goes_on = last is not None and last.opcode not in ("CALL", "RET", "BRX", "BRXU", "JMX")
        if goes_on and other[0] == function:
            predecessors[place] = other
    return predecessors


# Liveness, with calls of these subroutines as single instructions


def _subroutines(
    blocks: Blocks, entries: Iterable[CodePlace], section: Section
) -> dict[CodePlace, dict[CodePlace, LivenessBlock]]:
    """The blocks of each, by its entry; without those that call others."""
    subroutines: dict[CodePlace, dict[CodePlace, LivenessBlock]] = {}
    for entry in entries:
        own = _subroutine(blocks, entry, section(entry[0]))
        if own is not None:
            subroutines[entry] = own
    return subroutines


def _subroutine(
    blocks: Blocks, entry: CodePlace, code: CodeSection
) -> dict[CodePlace, LivenessBlock] | None:
    """The blocks of a subroutine, its callers not among them; None if it calls another."""
    if entry not in blocks:
        return None
    body: dict[CodePlace, LivenessBlock] = {}
    pending = [entry]
    while pending:
        place = pending.pop()
        if place in body:
            continue
        block = blocks[place]
        last = _last(block, code)
        if last is None or last.opcode == "CALL" or place[0] != entry[0]:
            return None
        if last.opcode == "RET":
            following = entry[0], last.address + INSTRUCTION_BYTES
            stays = {following} & block.successors if last.guard is not None else set()
            block = LivenessBlock(block.accesses, stays)
        else:
            block = _with_guard(block, last, code)
        body[place] = block
        pending += block.successors
    return body


def _with_guard(block: LivenessBlock, last: DecodedInstruction, code: CodeSection) -> LivenessBlock:
    """``block``, and what the branch at its end depends on, where that is its guard alone.

    ptxas writes a register under a guard, branches under it, and else writes the register anew.
    """
    guard, target = last.guard, last.operands[-1] if last.operands else None
    place = code.function.labels.get(target.text) if isinstance(target, Name) else None
    is_plain = last.mnemonic == "BRA" and len(last.operands) == 1 and guard is not None
    if not is_plain or guard is None or place is None or len(block.successors) != 2:
        return block
    return replace(block, taken=((guard.name, guard.inverted), (code.name, place)))


def _without_callees(
    blocks: Blocks,
    subroutines: Mapping[CodePlace, dict[CodePlace, LivenessBlock]],
    section: Section,
) -> dict[CodePlace, LivenessBlock]:
    """``blocks``, where a call of one of the subroutines only reads what that reads."""
    read = {entry: live_at_starts(own)[entry] for entry, own in subroutines.items()}
    changed = dict(blocks)
    for place, block in blocks.items():
        code = section(place[0])
        last = _last(block, code)
        if last is not None:
            changed[place] = _with_guard(block, last, code)
        callee = called(code, last) if last is not None else None
        if last is not None and callee is not None and (place[0], callee) in read:
            reads = RegisterAccess(None, set(read[place[0], callee]))
            changed[place] = LivenessBlock(
                [*block.accesses, (block.accesses[-1][0], reads)],
                {(place[0], last.address + INSTRUCTION_BYTES)},
            )
    return changed


def _written(blocks: Blocks) -> set[str]:
    return {
        name for block in blocks.values() for _, access in block.accesses for name in access.writes
    }


# One fork as terms


@dataclass(frozen=True)
class _Operand:
    """An operand of an operation: a term, and the terms of its words."""

    term: int
    words: tuple[int, ...]


def _unknown(terms: Terms, name: str) -> int:
    """What a register holds before all that is read."""
    return terms.leaf(f"before {name}")


class _Reader:
    """Reads forks of one function."""

    def __init__(
        self,
        blocks: Blocks,
        code: CodeSection,
        terms: Terms,
        steps: TermSteps,
        before: Mapping[CodePlace, CodePlace],
    ) -> None:
        """``before``: the one block before each, where there is one."""
        self._blocks = blocks
        self._code = code
        self._terms = terms
        self._steps = steps
        self._before = before
        self._paths = Paths(terms, steps, code)
        self._states: dict[CodePlace, State] = {}
        """States at the ends of blocks."""

    def operation(
        self, fork: _Fork, changed: frozenset[str], slow_reads: frozenset[str]
    ) -> RecognizedOperation:
        """What ``fork`` is. Raises :class:`Unread` if the digest of both paths is not known.

        ``changed``: registers that are read where both paths join, and that one of them writes;
        ``slow_reads``: those that may be read from the beginning of the slow path on.
        """
        state = self._state_after(fork.place)
        fast = self._paths.terms_of_path(fork.fast, fork.join, state.__getitem__)
        result, results = self._result(fast.state, changed)
        operands = self._operands(result)
        names = self._names(operands)
        entry = OPERATIONS.get(self._fast_digest(fork, state, result, dict(names)))
        if entry is None:
            raise Unread
        name, slow_digest = entry
        if self._slow_digest(fork, state, results, names) != slow_digest:
            raise Unread
        sources = tuple(
            tuple(self._place_of(word, slow_reads, state) for word in operand.words)
            for operand in operands
        )
        return RecognizedOperation(name, sources, results, fork.join)

    def _state_after(self, last: CodePlace) -> State:
        """What registers hold at the end of a block, from the last place with several before it."""
        path = [last]
        while path[-1] not in self._states and path[-1] in self._before:
            path.append(self._before[path[-1]])
        for place in reversed(path):
            if place in self._states:
                continue
            previous = self._states.get(self._before.get(place, place))
            state = (
                previous.copy() if previous is not None else State(partial(_unknown, self._terms))
            )
            for (_, address), access in self._blocks[place].accesses:
                self._step(state, self._code.instructions[self._code.position[address]], access)
            self._states[place] = state
        return self._states[last]

    def _step(self, state: State, i: DecodedInstruction, access: RegisterAccess) -> None:
        """Follow one instruction; what one that is not known, or has a guard, writes is unknown."""
        if i.opcode in ("BRA", "EXIT"):
            return
        try:
            if i.guard is not None:
                raise Unread
            self._steps.step(state, i)
        except Unread:
            for name in access.writes:
                state.changed[name] = self._terms.leaf(f"{name} at {i.address}")

    def _result(self, fast: State, changed: frozenset[str]) -> tuple[int, tuple[Register, ...]]:
        """The number that the fast path gives, and the registers that then have its words."""
        if not all(name.startswith("R") and name[1:].isdecimal() for name in changed):
            raise Unread
        held = {fast[name]: Register("R", int(name[1:])) for name in changed}
        if len(changed) == 1:
            ((term, register),) = held.items()
            return term, (register,)
        if len(changed) != 2 or len(held) != 2:
            raise Unread
        whole = self._terms.operands(next(iter(held)))
        words = [self._terms.make(half, *whole) for half in ("lo", "hi") if len(whole) == 1]
        if set(words) != held.keys():
            raise Unread
        return whole[0], tuple(held[word] for word in words)

    # What is computed of what

    def _operands(self, result: int) -> list[_Operand]:
        """The operands of the operation whose fast way gives ``result``, by its last step."""
        terms = self._terms
        if terms.operator(result) not in ("FFMA", "DFMA"):
            raise Unread
        *factors, addend = terms.operands(result)
        operand_terms = (
            self._reciprocal(factors, addend)
            or self._quotient(factors, addend)
            or self._root(factors, addend)
        )
        if operand_terms is None:
            raise Unread
        wide = terms.operator(result) == "DFMA"
        operands = [self._operand_of(term, wide) for term in operand_terms]
        words = [word for operand in operands for word in operand.words]
        if len(set(words)) != len(words) or any(terms.number(word) is not None for word in words):
            raise Unread
        return operands

    def _operand_of(self, term: int, wide: bool) -> _Operand:
        make = self._terms.make
        return _Operand(term, (make("lo", term), make("hi", term)) if wide else (term,))

    def _quotient(self, factors: list[int], first: int) -> list[int] | None:
        """``y * (a - b * q) + q``: a and b."""
        for remainder in factors:
            parts = self._terms.operands(remainder)
            if len(parts) == 3 and first in parts[:2] and parts[0] != parts[1]:
                divisor = parts[1] if parts[0] == first else parts[0]
                return [parts[2], divisor]
        return None

    def _root(self, factors: list[int], first: int) -> list[int] | None:
        """``h * (a - s * s) + s``: a."""
        for remainder in factors:
            parts = self._terms.operands(remainder)
            if len(parts) == 3 and parts[:2] == (first, first):
                return [parts[2]]
        return None

    def _reciprocal(self, factors: list[int], estimate: int) -> list[int] | None:
        """``y * (1 - b * y) + y``: b; in single precision the error is ``-(b * y - 1) + -0``."""
        if estimate not in factors:
            return None
        error = factors[factors[0] == estimate]
        parts = self._terms.operands(error)
        if self._terms.operator(error) == "FADD":
            inner = [each for part in parts for each in self._terms.operands(part)]
            parts = next(
                (
                    self._terms.operands(each)
                    for each in inner
                    if self._terms.operator(each) == "FFMA"
                ),
                (),
            )
        if len(parts) != 3 or estimate not in parts[:2]:
            return None
        return [parts[parts[0] == estimate]]

    # Both paths

    def _names(self, operands: list[_Operand]) -> dict[int, int]:
        """What stands for operands and their words, whatever they are."""
        terms = self._terms
        names: dict[int, int] = {}
        for number, operand in enumerate(operands):
            names[operand.term] = terms.leaf(f"operand {number}")
            if len(operand.words) == 2:
                for half, word in zip(("lo", "hi"), operand.words, strict=True):
                    names[word] = terms.make(half, names[operand.term])
        return names

    def _fast_digest(self, fork: _Fork, state: State, result: int, names: dict[int, int]) -> str:
        """Digest of the condition of the fast path, and of its result."""
        terms, steps = self._terms, self._steps
        condition = steps.true
        if fork.branch.guard is not None:
            condition = steps.condition(state, fork.branch.guard)
        for each in fork.branch.operands[:-1]:
            if not isinstance(each, Predicate):
                raise Unread
            condition = steps.both(condition, steps.condition(state, each))
        if not fork.takes_fast:
            condition = terms.make("not", condition)
        parts = [terms.digest(terms.renamed(each, names)) for each in (condition, result)]
        return sha256(b"".join(parts)).hexdigest()[:32]

    def _slow_digest(
        self, fork: _Fork, state: State, results: tuple[Register, ...], names: dict[int, int]
    ) -> str:
        """Digest of the result on each path through the subroutine."""
        slow = self._paths.terms_of_path(
            fork.slow, fork.join, lambda name: self._terms.renamed(state[name], names)
        )
        if slow.subroutine is None:
            raise Unread
        leaves = tuple(slow.state[register.name] for register in results)
        return sha256(slow.subroutine.digest(leaves)).hexdigest()[:32]

    def _place_of(self, word: int, slow_reads: frozenset[str], state: State) -> Operand:
        """Where a word is at the branch. Raises :class:`Unread` where the slow path has it not.

        Of other registers it may be known that nobody reads what they hold.
        """
        for name in sorted(slow_reads):
            if name.startswith(("R", "UR")) and state[name] == word:
                file = name.rstrip("0123456789")
                return Register(file, int(name[len(file) :]))
        leaf = self._terms.name(word).split()
        if leaf[:1] == ["bank"]:
            return Constant(int(leaf[1]), int(leaf[2]))
        raise Unread
