"""Kernels of both sides, matched by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cass_ray.assembly.align import Alignment, align_kernels
from cass_ray.dataset.row import (
    Reason,
    Stage,
    Verified,
    rejected,
)
from cass_ray.pipeline.stages.base import Row, guarded
from cass_ray.pipeline.stages.lifted_side import is_set_aside, set_aside


@dataclass(frozen=True)
class AlignStage:
    """Fills ``kernels``; a row whose kernels differ is rejected, the others are ``compiled``.

    With ``lifted_rows`` it is set aside for the lifter instead.
    """

    lifted_rows: bool = False

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``kernels`` and ``verified``, or rejected."""
        leave = set_aside if self.lifted_rows else rejected
        return [guarded(Stage.ALIGN, row, partial(_one, leave=leave)) for row in rows]


def _one(row: Row, leave: Callable[[Row, Stage, Reason, str], Row]) -> Row:
    if is_set_aside(row):
        return row
    alignment = align_kernels(row["cuda_device"], row["hip_device"])
    if alignment.only_libraries:
        return leave(row, Stage.ALIGN, Reason.LIBRARY_KERNELS_ONLY, _libraries(alignment))
    if not alignment.common:
        return leave(
            row, Stage.ALIGN, Reason.NO_COMMON_KERNEL, f"no kernel on both sides: {alignment}"
        )
    if alignment.kernels_differ:
        return leave(
            row,
            Stage.ALIGN,
            Reason.KERNELS_DIFFER,
            f"only in SASS: {', '.join(alignment.only_nvidia) or '-'}; "
            f"only in RDNA3: {', '.join(alignment.only_amd) or '-'}",
        )
    return {**row, "kernels": list(alignment.common), "verified": Verified.COMPILED.value}


def _libraries(alignment: Alignment) -> str:
    """Why such kernels are not paired: each library divides the work in its own way."""
    sides = len(alignment.library_nvidia), len(alignment.library_amd)
    return (
        f"{sides[0]} kernels of CUB and Thrust, {sides[1]} of rocPRIM and rocThrust, and none of "
        "the program's own: the libraries divide the same work differently, so none is another's "
        f"counterpart; {', '.join(alignment.library_nvidia[:3])}"
    )
