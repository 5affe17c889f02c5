"""Ends of basic blocks: where control goes next, with the registers stored before it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from cass_ray.lift.llvm.builder import TRUE, IRBuilder, LlvmFunction, Value
from cass_ray.lift.lowering.registers import RegisterFile
from cass_ray.lift.lowering.scheduling.warp_scheduler import WarpScheduler

_TRAP = "trap"
ENDED = "ended"
"""The block, of a function that a kernel calls, where the thread has ended."""


class Terminators:
    """Writes the last instructions of blocks. Labels are operands: ``label %name``."""

    def __init__(
        self, ir: IRBuilder, registers: RegisterFile, scheduler: WarpScheduler | None = None
    ) -> None:
        """``turns``: the two warps of a wave run one after the other."""
        self._ir = ir
        self._registers = registers
        self._scheduler = scheduler
        self._trapping_functions: set[LlvmFunction] = set()
        """Functions with a block ``trap`` that ends the program."""
        self.ending_functions: set[LlvmFunction] = set()
        """Functions in which a thread may end."""

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
        """End the thread."""
        self.ending_functions.add(self._ir.function)
        if self._ir.function is not None:
            self.jump(f"label %{ENDED}")
        else:
            self.leave_kernel()

    def leave_kernel(self) -> None:
        """End the thread; registers are not stored, for nothing reads them any more."""
        if self._scheduler is not None:
            self._scheduler.end()
        else:
            self._ir.line("ret void")

    def switch(self, value: Value, cases: list[str]) -> None:
        """Go where ``value`` says; a value that is none of the cases ends the program."""
        self._registers.flush()
        self._ir.line(f"switch {value}, {self.trap_label()} [ {' '.join(cases)} ]")

    def jump_expecting(self, address: Value, expected: Value, label: str) -> None:
        """Go to ``label``, where ``address`` must lead; anything else ends the program."""
        self._registers.flush()
        if address == expected:
            self._ir.line(f"br {label}")
        else:
            same = self._ir.icmp("eq", address, expected)
            self._ir.line(f"br {same}, {label}, {self.trap_label()}")

    def trap(self) -> None:
        """End the program with an error, by the block ``trap``."""
        self.jump(self.trap_label())

    def trap_label(self) -> str:
        """The operand of a jump to the block ``trap``."""
        self._trapping_functions.add(self._ir.function)
        return f"label %{_TRAP}"

    def trap_block(self, function: LlvmFunction) -> Iterable[str]:
        """The lines of the block ``trap``, where ``function`` has to have one."""
        if function not in self._trapping_functions:
            return ()
        self._ir.declarations.add("declare void @llvm.trap()")
        return f"{_TRAP}:", "  call void @llvm.trap()", "  unreachable"
