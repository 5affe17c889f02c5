"""Registers of one thread as z3 terms, operands of instructions as their values, and one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import z3

from cass_ray.assembly.mnemonic_patterns import expand
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import (
    Constant,
    Immediate,
    Operand,
    Predicate,
    Register,
)

Word = Any
"""A bit vector; of 32 bits unless it says otherwise."""
Condition = Any
"""A Boolean."""


class NotSpecified(Exception):
    """An instruction, or an operand of it, of which nothing is said here."""


def word(number: int, width: int = 32) -> Word:
    """A constant."""
    return z3.BitVecVal(number, width)


@dataclass
class State:
    """The registers that were written; every other one is a free variable of its name."""

    values: dict[str, Any] = field(default_factory=dict)

    # Reading

    def register(self, register: Register, distance: int = 0) -> Word:
        """The 32 bits of a register, or of the one ``distance`` further, without modifiers."""
        if register.index is None:
            return word(0)
        name = f"{register.file}{register.index + distance}"
        return self.values.get(name, z3.BitVec(name, 32))

    def raw(self, operand: Operand, distance: int = 0) -> Word:
        """32 bits of an operand without its sign, inversion or absolute value."""
        if isinstance(operand, Register):
            return self.register(operand, distance)
        if isinstance(operand, Constant) and operand.index is None:
            name = f"c[{operand.bank:#x}][{operand.offset + 4 * distance:#x}]"
            return z3.BitVec(name, 32)
        if isinstance(operand, Immediate) and (operand.is_bits or operand.text == "0"):
            return word(operand.integer >> 32 * distance)
        raise NotSpecified(f"operand {operand}")

    def word(self, operand: Operand) -> Word:
        """32 bits of an operand with its modifiers: absolute value, then inversion or sign."""
        value = self.raw(operand)
        if not isinstance(operand, Register | Constant):
            return value
        if operand.suffixes:
            raise NotSpecified(f"selector of {operand}")
        if operand.absolute:
            value = z3.If(value < 0, -value, value)
        if operand.inverted:
            value = ~value
        return -value if operand.negated else value

    def wide(self, operand: Operand, *, signed: bool) -> Word:
        """64 bits: a register and the next one, two words of a bank, or an extended literal."""
        if isinstance(operand, Immediate):
            literal = word(operand.integer)
            return z3.SignExt(32, literal) if signed else z3.ZeroExt(32, literal)
        value = z3.Concat(self.raw(operand, 1), self.raw(operand))
        assert isinstance(operand, Register | Constant)
        if operand.suffixes or operand.absolute:
            raise NotSpecified(f"modifiers of {operand}")
        if operand.inverted:
            value = ~value
        return -value if operand.negated else value

    def long(self, operand: Operand) -> Word:
        """64 bits of an instruction whose literals are printed whole, or with their sign."""
        if isinstance(operand, Immediate):
            return word(operand.integer, 64)
        return self.wide(operand, signed=False)

    def condition(self, operand: Operand) -> Condition:
        """The value of a predicate operand."""
        if not isinstance(operand, Predicate):
            raise NotSpecified(f"{operand} as a predicate")
        if operand.index is None:
            return z3.BoolVal(not operand.inverted)
        value = self.predicate(operand.file, operand.index)
        return z3.Not(value) if operand.inverted else value

    def predicate(self, file: str, index: int) -> Condition:
        """A predicate register."""
        name = f"{file}{index}"
        return self.values.get(name, z3.Bool(name))


class Writer:
    """Takes the results of one instruction, which all become visible when it is done."""

    def __init__(self, state: State, instruction: DecodedInstruction) -> None:
        self.state = state
        self.instruction = instruction
        self.results: dict[str, Any] = {}

    def word(self, target: Operand, value: Word, distance: int = 0) -> None:
        """Write 32 bits."""
        if not isinstance(target, Register):
            raise NotSpecified(f"{target} as a target")
        if target.index is not None:
            self.results[f"{target.file}{target.index + distance}"] = value

    def wide(self, target: Operand, value: Word) -> None:
        """Write 64 bits to a register and the next one."""
        self.word(target, z3.Extract(31, 0, value))
        self.word(target, z3.Extract(63, 32, value), 1)

    def condition(self, target: Operand, value: Condition) -> None:
        """Write a predicate."""
        if not isinstance(target, Predicate) or target.inverted:
            raise NotSpecified(f"{target} as a target")
        if target.index is not None:
            self.results[f"{target.file}{target.index}"] = value


Effect = Callable[[State, DecodedInstruction, Writer], None]

SPECIFIED: dict[str, Effect] = {}
"""Mnemonic with all its modifiers -> what it does."""


def specifies(*patterns: str) -> Callable[[Effect], Effect]:
    """Enter a function for each mnemonic that ``patterns`` with ``{alternatives}`` stand for."""

    def enter(effect: Effect) -> Effect:
        for mnemonic in _expanded(patterns):
            if mnemonic in SPECIFIED:
                raise ValueError(f"{mnemonic} twice")
            SPECIFIED[mnemonic] = effect
        return effect

    return enter


def _expanded(patterns: tuple[str, ...]) -> Iterator[str]:
    for pattern in patterns:
        yield from expand(pattern)


def step(state: State, instruction: DecodedInstruction) -> None:
    """Do one instruction. Raises :class:`NotSpecified`."""
    effect = SPECIFIED.get(instruction.mnemonic)
    if effect is None:
        raise NotSpecified(instruction.mnemonic)
    writer = Writer(state, instruction)
    effect(state, instruction, writer)
    guard = instruction.guard
    if guard is not None:
        holds = state.condition(guard)
        writer.results = {
            name: z3.If(holds, value, _before(state, name))
            for name, value in writer.results.items()
        }
    state.values.update(writer.results)


def _before(state: State, name: str) -> Any:
    if "P" in name:
        file, index = name[:-1], name[-1]
        return state.predicate(file, int(index))
    file = name.rstrip("0123456789")
    return state.register(Register(file, int(name[len(file) :])))


def split(operands: tuple[Operand, ...]) -> tuple[list[Operand], list[Operand]]:
    """Predicates at the front, which get carries, and the other operands."""
    count = next((n for n, o in enumerate(operands) if not isinstance(o, Predicate)), len(operands))
    return list(operands[:count]), list(operands[count:])
