"""Kernels of both sides, matched by name."""

from __future__ import annotations

from collections.abc import Sequence

from cass_ray.assembly.align import align_kernels
from cass_ray.dataset.schema import Reason, Stage, Verified, rejected
from cass_ray.pipeline.stages.base import Row, guarded


class AlignStage:
    """Fills ``kernels``; a row whose kernels differ is rejected, the others are ``compiled``."""

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``kernels`` and ``verified``, or rejected."""
        return [guarded(Stage.ALIGN, row, _one) for row in rows]


def _one(row: Row) -> Row:
    alignment = align_kernels(row["cuda_device"], row["hip_device"])
    if not alignment.common:
        return rejected(
            row, Stage.ALIGN, Reason.NO_COMMON_KERNEL, f"no kernel on both sides: {alignment}"
        )
    if alignment.kernels_differ:
        return rejected(
            row,
            Stage.ALIGN,
            Reason.KERNELS_DIFFER,
            f"only in SASS: {', '.join(alignment.only_nvidia) or '-'}; "
            f"only in RDNA3: {', '.join(alignment.only_amd) or '-'}",
        )
    return {**row, "kernels": list(alignment.common), "verified": Verified.COMPILED.value}
