"""Two warps of one wave, one after the other: where one may wait for the other, or where they may
come to different barriers.

Lanes of a wave go on together: a warp that has left a loop, or a branch, waits until the other warp
of its wave has come there too. Where that other one waits for it in turn, neither ends. In turns a
warp runs alone up to a barrier of the block or its end, and then the other does; when neither can
go on, the wave goes to the barrier.

Places where a warp can be resumed are numbered; each lane keeps the number of its own.
"""

from __future__ import annotations

from pathlib import Path

from cass_ray.lift.llvm.builder import IRBuilder, OutlinedRegion
from cass_ray.lift.lowering.registers import RegisterFile
from cass_ray.lift.lowering.target import WAIT_FOR_LDS

ENDED_PLACE = -1
"""The place of a lane that has ended."""
_FRAME = Path(__file__).with_suffix(".ll").read_text(encoding="utf-8")
"""The assembly keeps LLVM from seeing how often the loop is run: it could make one turn of two."""


class WarpScheduler:
    """Writes where a warp stops, and the scheduler that runs the two warps of a wave one after the
    other."""

    def __init__(self, ir: IRBuilder, registers: RegisterFile) -> None:
        self._ir = ir
        self._registers = registers
        self._labels: list[str] = []
        self.stops_in: tuple[str, int] | None = None
        """A function of LLVM in which a turn would end: a turn can only end in the kernel."""

    def pause(self, label: str, *, at_barrier: bool) -> None:
        """End the turn; the next one begins at ``label``, a block that knows no registers.

        ``at_barrier``: not before all threads of the block have come to a barrier.
        """
        place = self._keep(label)
        self._ir.line(f"store i32 {place}, ptr addrspace(5) %turn.place")
        self._ir.line(f"store i1 {str(at_barrier).lower()}, ptr addrspace(5) %turn.waits")
        self._ir.line("br label %turn.next")

    def _keep(self, label: str) -> int:
        """Store registers for the next turn, which begins at ``label``; the number of that
        place."""
        assert not isinstance(self._ir.function, OutlinedRegion)  # nothing is outlined there
        self.stops_in = self.stops_in or self._ir.function
        self._registers.flush()
        if label not in self._labels:
            self._labels.append(label)
        return self._labels.index(label) + 1

    def _cases(self, entry: str) -> str:
        """Cases of a switch over places, the first for the kernel's first block."""
        labels = [f"label %{entry}", *self._labels]
        return " ".join(f"i32 {number}, {label}" for number, label in enumerate(labels))

    def end(self) -> None:
        """End the turn and the thread."""
        self._ir.line(f"store i32 {ENDED_PLACE}, ptr addrspace(5) %turn.place")
        self._ir.line("br label %turn.next")

    def frame(self, entry: str, beginning: str) -> list[str]:
        """The lines between the kernel's beginning and its first block, labelled ``entry``.

        ``beginning``: the block that the beginning ends with.
        """
        declarations = (
            "i64 @llvm.amdgcn.ballot.i64(i1)",
            "i32 @llvm.amdgcn.mbcnt.lo(i32, i32)",
            "i32 @llvm.amdgcn.mbcnt.hi(i32, i32)",
            "void @llvm.amdgcn.s.barrier()",
            "void @llvm.amdgcn.s.waitcnt(i32)",
        )
        self._ir.declarations.update(f"declare {each}" for each in declarations)
        numbers = f"[ 0, %{beginning} ], [ %turn.second, %turn.next ]"
        numbers += ", [ 0, %turn.round ], [ 0, %turn.meet ]"
        frame = _FRAME.replace("CASES", self._cases(entry)).replace("NUMBERS", numbers)
        frame = frame.replace("LDS_WAIT", str(WAIT_FOR_LDS))
        return [
            "  %turn.place = alloca i32, addrspace(5)",
            "  %turn.waits = alloca i1, addrspace(5)",
            "  store i32 0, ptr addrspace(5) %turn.place",
            "  store i1 false, ptr addrspace(5) %turn.waits",
            "  %turn.low = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)",
            "  %turn.lane = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %turn.low)",
            "  %turn.warp = lshr i32 %turn.lane, 5",
            "  br label %turn",
            *frame.splitlines(),
        ]
