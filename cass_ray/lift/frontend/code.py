"""The code of a cubin: functions, decoded instructions, where blocks begin, what calls name."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cass_ray.assembly import sass
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.instruction import DecodedInstruction, decode
from cass_ray.lift.frontend.operands import Immediate, Name

INSTRUCTION_BYTES = sass.INSTRUCTION_BYTES

_SYSTEM = 0x7FFF << 48
"""Numbers of functions that the driver provides, such as ``vprintf``, begin here."""

_OWN_SUBROUTINE = re.compile(r"\$__internal_\d+_\$__cuda_|.*\$__internal_trig_reduction_slowpath")
"""Names of subroutines that the compiler adds: divisions, square roots, reductions of large angles.

No program can take the address of one, so that calls through registers do not reach them.
"""
BRANCHES = frozenset({"BRA", "JMP", "BRX", "BRXU", "JMX", "CALL"})
ENDINGS = BRANCHES | {"EXIT", "RET", "KILL", "BPT"}
"""A new block begins after each of these."""


@dataclass(frozen=True)
class CodeSection:
    """One code section: a kernel with the subroutines in it, or a device function of its own."""

    index: int
    function: sass.SassFunction
    subroutines: dict[str, int] = field(default_factory=dict)
    """Function symbols inside the section -> address."""

    @property
    def name(self) -> str:
        return self.function.name

    @cached_property
    def instructions(self) -> list[DecodedInstruction]:
        """All of them, in address order. Raises :class:`UnknownForm`."""
        return [decode(instruction) for instruction in self.function.instructions]

    @cached_property
    def position(self) -> dict[int, int]:
        """Address -> index into ``instructions``."""
        return {each.address: number for number, each in enumerate(self.function.instructions)}

    @cached_property
    def entries(self) -> frozenset[int]:
        """Addresses that are called, not jumped to; a function's own start is one, too."""
        start = () if self.function.is_kernel else (0,)
        return frozenset((*start, *self.subroutines.values(), *self.function.subroutines.values()))

    def subroutine(self, name: str) -> int | None:
        """Address of a function symbol inside the section."""
        return self.subroutines.get(name, self.function.subroutines.get(name))

    @cached_property
    def literals(self) -> frozenset[int]:
        """All that are printed in hexadecimal."""
        return frozenset(
            operand.integer
            for instruction in self.instructions
            for operand in instruction.operands
            if isinstance(operand, Immediate) and operand.is_bits
        )

    @cached_property
    def leaders(self) -> frozenset[int]:
        """Addresses at which a basic block begins."""
        leaders = set(self.entries)
        for instruction in self.instructions:
            if instruction.opcode in ENDINGS:
                leaders.add(instruction.address + INSTRUCTION_BYTES)
            if instruction.opcode in BRANCHES:
                names = [o.text for o in instruction.operands if isinstance(o, Name)]
                for name in (*names, *instruction.targets):
                    if name in self.function.labels:
                        leaders.add(self.function.labels[name])
        return frozenset(leaders)


class CubinCode:
    """All code of one cubin, from its listing."""

    def __init__(
        self,
        listing: str,
        subroutines: dict[str, dict[str, int]] | None = None,
        system: Sequence[str] = (),
        referred: Container[str] | None = None,
    ) -> None:
        """``subroutines``: name of a section's function -> its function symbols -> address.

        ``system`` names the functions that the cubin uses and does not define, ``referred`` the
        symbols whose addresses are somewhere; None if that is not known.
        """
        functions = sass.parse(listing).functions
        self._referred = referred
        self.system = {name: number for number, name in enumerate(system)}
        entries = subroutines or {}
        self.codes = {
            function.name: CodeSection(number, function, entries.get(function.name, {}))
            for number, function in enumerate(functions)
        }

    def code(self, name: str) -> CodeSection:
        """Raises :class:`LiftError` when there is no function of that name."""
        if name not in self.codes:
            raise LiftError(f"{name}: no code of that name in the cubin")
        return self.codes[name]

    def pointed_to(self) -> dict[int, tuple[str, int]]:
        """Number -> section and address of the functions that a pointer may lead to."""
        functions: dict[int, tuple[str, int]] = {}
        for code in self.codes.values():
            places = {**code.function.subroutines, **code.subroutines}
            if not code.function.is_kernel:
                places[code.name] = 0
            for name, address in places.items():
                if self._referred is None or name in self._referred:
                    functions[self.address(code, address)] = (code.name, address)
        return functions

    def offsets_called(self, code: CodeSection, words: Container[int]) -> list[int]:
        """Entries of ``code`` whose offset in it may be in a register.

        The compiler's own subroutines are left out, unless a literal, or one of ``words``, is
        their offset: those are the words of the cubin's data.
        """
        places = {**code.subroutines, **code.function.subroutines}
        own = {address for name, address in places.items() if _OWN_SUBROUTINE.match(name)}
        unnamed = {entry for entry in own - code.literals if entry not in words}
        return sorted(code.entries - unnamed - {0})

    def address(self, code: CodeSection, offset: int) -> int:
        """A 64-bit number for a place in the code; nothing loads from it."""
        return code.index + 1 << 32 | offset

    def code_number(self, symbol: str | None, added: str = "0") -> int | None:
        """The number of a function, a system function, or a label in one; None for other names.

        ``added`` is an offset in hexadecimal or a canonical label such as ``.L_3@srel``.
        """
        name = (symbol or "").partition("@")[0]
        for code in self.codes.values():
            place = 0 if name == code.name else code.subroutine(name)
            if place is None:
                continue
            label = added.partition("@")[0]
            if label in code.function.labels:
                return self.address(code, code.function.labels[label])
            return self.address(code, place + int(label, 16))
        number = self.system.get(name)
        return None if number is None else _SYSTEM | number << 4

    def system_numbers(self, provided: Container[str]) -> dict[int, str]:
        """Number -> name of the system functions of the program that are ``provided``."""
        return {_SYSTEM | n << 4: name for name, n in self.system.items() if name in provided}

    def system_function(self, number: int) -> str | None:
        """The system function that ``number`` stands for."""
        names = {_SYSTEM | index << 4: name for name, index in self.system.items()}
        return names.get(number)
