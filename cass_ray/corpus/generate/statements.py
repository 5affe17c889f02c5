"""Statements of generated programs: their lines in CUDA and their effect, side by side.

``execute`` runs a statement in the threads of a mask and returns the mask of those that go on to
the next one. Threads that ``break``, ``continue`` or ``return`` are noted in the :class:`Escapes`
of the loop or function around them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cass_ray.corpus.generate.expressions import Expression
from cass_ray.corpus.generate.machine import GeneratorError, KernelArray, LaunchState, Mask
from cass_ray.corpus.generate.types import Bounds, Scalar, Values

INDENT = "    "
_LONGEST_LOOP = 4096


@dataclass(eq=False)
class Escapes:
    """Where threads go that leave a statement early."""

    broken: Mask
    continued: Mask
    returned: Mask

    @classmethod
    def none(cls, mask: Mask) -> Escapes:
        return cls(np.zeros_like(mask), np.zeros_like(mask), np.zeros_like(mask))

    def inner(self, mask: Mask) -> Escapes:
        """For a loop inside: its breaks are its own, its returns are not."""
        return Escapes(np.zeros_like(mask), np.zeros_like(mask), self.returned)


@dataclass(eq=False)
class Statement:
    """Something that has an effect."""

    def lines(self, depth: int) -> list[str]:
        """The text, indented by ``depth`` levels."""
        raise NotImplementedError

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """Run it in the threads of ``mask``; those that go on."""
        raise NotImplementedError


def block_lines(body: Sequence[Statement], depth: int) -> list[str]:
    """The lines of several statements."""
    return [line for statement in body for line in statement.lines(depth)]


def run_block(
    body: Sequence[Statement], machine: LaunchState, mask: Mask, escapes: Escapes
) -> Mask:
    """Run several statements, one after the other."""
    for statement in body:
        if mask is not machine.everyone and not mask.any():
            return mask
        machine.mask = mask
        mask = statement.execute(machine, mask, escapes)
    return mask


def condition_values(condition: Expression, machine: LaunchState, mask: Mask) -> Mask:
    """The threads of ``mask`` in which ``condition`` holds."""
    machine.mask = mask
    return np.asarray(condition.value(machine), dtype=np.bool_) & mask


@dataclass(eq=False)
class Assign(Statement):
    """``text`` sets the variable ``name`` to the value of ``expression``."""

    text: str
    name: str
    expression: Expression

    def lines(self, depth: int) -> list[str]:
        return [f"{INDENT * depth}{self.text};"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """Assign where the mask is set."""
        machine.assign(self.name, self.expression.value(machine))
        return mask


@dataclass(eq=False)
class Fields(Statement):
    """``text`` sets several variables at once: the fields of a struct."""

    text: str
    values: dict[str, Expression]

    def lines(self, depth: int) -> list[str]:
        return [f"{INDENT * depth}{self.text};"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """All are evaluated before any is set."""
        evaluated = {name: value.value(machine) for name, value in self.values.items()}
        for name, values in evaluated.items():
            machine.assign(name, values)
        return mask


@dataclass(eq=False)
class StoreStatement(Statement):
    """``place[index] = expression`` to an element that no other thread touches."""

    place: KernelArray
    index: Expression
    expression: Expression
    target: str = ""

    def lines(self, depth: int) -> list[str]:
        target = self.target or f"{self.place.name}[{self.index.text}]"
        return [f"{INDENT * depth}{target} = {self.expression.text};"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        machine.store(self.place, self.index.value(machine), self.expression.value(machine))
        return mask


@dataclass(eq=False)
class Atomic(Statement):
    """``text`` is an atomic operation whose result does not depend on the order."""

    text: str
    place: KernelArray
    function: np.ufunc
    index: Expression
    expression: Expression

    def lines(self, depth: int) -> list[str]:
        return [f"{INDENT * depth}{self.text};"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """One thread after the other."""
        index, values = self.index.value(machine), self.expression.value(machine)
        machine.accumulate(self.place, self.function, index, values)
        return mask


@dataclass(eq=False)
class Text(Statement):
    """Lines without an effect of their own: an array's declaration, ``__syncwarp()``."""

    text: tuple[str, ...]

    def lines(self, depth: int) -> list[str]:
        return [f"{INDENT * depth}{line}" for line in self.text]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        return mask


@dataclass(eq=False)
class Barrier(Statement):
    """``__syncthreads()``."""

    def lines(self, depth: int) -> list[str]:
        return [f"{INDENT * depth}__syncthreads();"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """Lockstep needs none; all threads of a block must be here, or none."""
        machine.check_uniform(mask, machine.shape.block_threads, "a barrier")
        return mask


@dataclass(eq=False)
class WarpAssign(Statement):
    """``type name = …`` by a function of whole warps, or of groups of ``width`` lanes.

    ``function`` gets the operand's values as (groups, ``width``).
    """

    text: str
    name: str
    operand: Expression
    function: Callable[[Values], Values]
    width: int = 32

    def lines(self, depth: int) -> list[str]:
        return [f"{INDENT * depth}{self.text};"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """All lanes of a group must be here, or none."""
        machine.check_uniform(mask, self.width, self.text)
        values = np.broadcast_to(self.operand.value(machine), mask.shape)
        result = self.function(values.reshape(-1, self.width))
        machine.assign(self.name, np.broadcast_to(result, (mask.size // self.width, self.width))
                       .reshape(-1))  # fmt: skip
        return mask


@dataclass(eq=False)
class If(Statement):
    """``if``, with or without ``else``."""

    condition: Expression
    then: list[Statement]
    otherwise: list[Statement] = field(default_factory=list)

    def lines(self, depth: int) -> list[str]:
        """Braces always."""
        pad = INDENT * depth
        out = [f"{pad}if ({self.condition.text}) {{", *block_lines(self.then, depth + 1)]
        if self.otherwise:
            out += [f"{pad}}} else {{", *block_lines(self.otherwise, depth + 1)]
        return [*out, f"{pad}}}"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """Both sides, each in its threads."""
        taken = condition_values(self.condition, machine, mask)
        rest = mask & ~taken
        left = run_block(self.then, machine, taken, escapes)
        return _joined(machine, mask, left | run_block(self.otherwise, machine, rest, escapes))


def _joined(machine: LaunchState, before: Mask, after: Mask) -> Mask:
    """``after``, as the very mask of everyone where it is that."""
    return before if before is machine.everyone and after.all() else after


@dataclass(eq=False)
class Switch(Statement):
    """``switch``; a case may fall through into the next."""

    selector: Expression
    cases: list[tuple[int, list[Statement], bool]]
    """Value, statements, whether a ``break`` ends it."""
    default: list[Statement]

    def lines(self, depth: int) -> list[str]:
        """Cases indented once."""
        pad = INDENT * depth
        out = [f"{pad}switch ({self.selector.text}) {{"]
        for value, body, ends in self.cases:
            out += [f"{pad}case {value}: {{", *block_lines(body, depth + 1)]
            out.append(f"{pad}{INDENT}break;" if ends else f"{pad}{INDENT}// falls through")
            out.append(f"{pad}}}")
        out += [f"{pad}default: {{", *block_lines(self.default, depth + 1)]
        return [*out, f"{pad}{INDENT}break;", f"{pad}}}", f"{pad}}}"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """Threads enter at their case and leave at a ``break``."""
        machine.mask = mask
        selected = np.broadcast_to(self.selector.value(machine), mask.shape)
        done = np.zeros_like(mask)
        inside = np.zeros_like(mask)
        entered = np.zeros_like(mask)
        for value, body, ends in self.cases:
            entering = mask & (selected == value)
            entered |= entering
            inside = run_block(body, machine, inside | entering, escapes)
            if ends:
                done |= inside
                inside = np.zeros_like(mask)
        inside = run_block(self.default, machine, inside | (mask & ~entered), escapes)
        return _joined(machine, mask, done | inside)


@dataclass(eq=False)
class Loop(Statement):
    """Any loop: ``first``, then while ``condition``: body and ``step``.

    ``head`` and ``tail`` are its text; ``test_first`` is False for ``do``.
    """

    head: str
    tail: str
    first: Sequence[Statement]
    condition: Expression
    step: Sequence[Statement]
    body: list[Statement]
    test_first: bool = True
    unroll: str = ""

    def lines(self, depth: int) -> list[str]:
        pad = INDENT * depth
        out = [f"{pad}{self.unroll}"] if self.unroll else []
        return [*out, f"{pad}{self.head}", *block_lines(self.body, depth + 1), f"{pad}{self.tail}"]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        """Until every thread has left."""
        run_block(self.first, machine, mask, escapes)
        inner = escapes.inner(mask)
        finished = np.zeros_like(mask)
        active = mask
        for turn in range(_LONGEST_LOOP):
            if self.test_first or turn:
                stay = condition_values(self.condition, machine, active)
                finished |= active & ~stay
                active = _joined(machine, active, stay)
            if not active.any():
                return _joined(machine, mask, finished | inner.broken)
            inner.continued[:] = False
            active = run_block(self.body, machine, active, inner)
            if inner.continued.any():
                active = active | inner.continued
            active = run_block(self.step, machine, active, inner)
        raise GeneratorError(f"a loop of more than {_LONGEST_LOOP} turns: {self.head}")


@dataclass(eq=False)
class Leave(Statement):
    """``break``, ``continue`` or ``return``, on a condition."""

    condition: Expression
    how: str
    result: Expression | None = None
    """What a device function returns."""

    def lines(self, depth: int) -> list[str]:
        pad = INDENT * depth
        result = f" {self.result.text}" if self.result is not None else ""
        return [
            f"{pad}if ({self.condition.text}) {{",
            f"{pad}{INDENT}{self.how}{result};",
            f"{pad}}}",
        ]

    def execute(self, machine: LaunchState, mask: Mask, escapes: Escapes) -> Mask:
        leaving = condition_values(self.condition, machine, mask)
        if self.result is not None:
            machine.mask = leaving
            machine.assign(RESULT, self.result.value(machine))
        target = {
            "break": escapes.broken,
            "continue": escapes.continued,
            "return": escapes.returned,
        }[self.how]
        target |= leaving
        return mask & ~leaving if leaving.any() else mask


RESULT = "(result)"
"""Stands for a device function's result among its variables."""


@dataclass(eq=False)
class GeneratedFunction:
    """A device function. ``parameters`` are (text, name, type, bounds); structs are flattened."""

    head: tuple[str, ...]
    name: str
    parameters: list[tuple[str, Scalar, Bounds]]
    body: list[Statement]
    result: Expression

    def lines(self) -> list[str]:
        tail = [f"{INDENT}return {self.result.text};", "}"]
        return [*self.head, *block_lines(self.body, 1), *tail]


@dataclass(frozen=True, eq=False)
class FunctionCall(Expression):
    """A call of a device function."""

    function: GeneratedFunction | None = None
    arguments: tuple[Expression, ...] = ()

    def value(self, machine: LaunchState) -> Values:
        """Run the body on a frame of its own."""
        assert self.function is not None
        names = [name for name, _, _ in self.function.parameters]
        values = [argument.value(machine) for argument in self.arguments]
        mask = machine.mask
        with machine.frame(dict(zip(names, values, strict=True))):
            escapes = Escapes.none(mask)
            left = run_block(self.function.body, machine, mask, escapes)
            if left.any():
                machine.mask = left
                machine.assign(RESULT, self.function.result.value(machine))
            # No thread calls it where the mask is empty.
            return machine.variables.get(RESULT, np.zeros((), dtype=self.type.dtype))
