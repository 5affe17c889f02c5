"""Ends of basic blocks: where control goes next, with the registers stored before it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cass_ray.lift.llvm.builder import TRUE, IRBuilder, Value
from cass_ray.lift.lowering.registers import RegisterFile
from cass_ray.lift.lowering.turns import Turns

_TRAP = "trap"
UNROLLED = ", !llvm.loop !3"
"""Appended to a branch back to the beginning of a loop that LLVM is to unroll."""


class Terminators:
    """Writes the last instructions of blocks. Labels are operands: ``label %name``."""

    def __init__(self, ir: IRBuilder, registers: RegisterFile, turns: Turns | None = None) -> None:
        """``turns``: the two warps of a wave run one after the other."""
        self._ir = ir
        self._registers = registers
        self._turns = turns
        self.needs_trap_block = False
        """Whether the function has to have a block ``trap`` that ends the program."""

    def jump(self, label: str, note: str = "") -> None:
        """Go to a block.

        ``label`` is an operand, ``label %name``, here and below; ``note`` is appended metadata.
        """
        self._registers.flush()
        self._ir.line(f"br {label}{note}")

    def branch(self, condition: Value, yes: str, no: Callable[[], str], note: str = "") -> None:
        """Go to one of two blocks; ``no`` names the second if it is ever reached."""
        if condition == TRUE:
            self.jump(yes, note)
            return
        self._registers.flush()
        self._ir.line(f"br {condition}, {yes}, {no()}{note}")

    @contextmanager
    def leaving_if(self, condition: Value, following: Callable[[], str]) -> Iterator[None]:
        """Inside, write the end of the block for where ``condition`` holds; else go on."""
        if condition != TRUE:
            self._registers.flush()
            label = f"leave{self._ir.fresh()}"
            self._ir.line(f"br {condition}, label %{label}, {following()}")
            self._ir.label(label)
        yield

    def leave(self) -> None:
        """End the thread; registers are not stored, for nothing reads them any more."""
        if self._turns is not None:
            self._turns.end()
        else:
            self._ir.line("ret void")

    def switch(self, value: Value, cases: list[str]) -> None:
        """Go where ``value`` says; a value that is none of the cases ends the program."""
        self._registers.flush()
        self._ir.line(self._switch(value, cases))

    def switch_later(self) -> int:
        """A switch whose cases are not known yet: what :meth:`complete_switch` is to be given."""
        self._registers.flush()
        return self._ir.reserve_line()

    def complete_switch(self, reserved: int, value: Value, cases: list[str]) -> None:
        """Write the switch for which :meth:`switch_later` has kept a place."""
        self._ir.fill_line(reserved, self._switch(value, cases))

    def _switch(self, value: Value, cases: list[str]) -> str:
        return f"switch {value}, {self._trap_label()} [ {' '.join(cases)} ]"

    def jump_expecting(self, address: Value, expected: Value, label: str) -> None:
        """Go to ``label``, where ``address`` must lead; anything else ends the program."""
        self._registers.flush()
        if address == expected:
            self._ir.line(f"br {label}")
        else:
            same = self._ir.icmp("eq", address, expected)
            self._ir.line(f"br {same}, {label}, {self._trap_label()}")

    def trap(self) -> None:
        """End the program with an error, by the block ``trap``."""
        self.jump(self._trap_label())

    def _trap_label(self) -> str:
        self.needs_trap_block = True
        return f"label %{_TRAP}"
