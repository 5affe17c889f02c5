"""What the workers of a job have in common: who began what, so that deadly rows are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cass_ray.toolchain.errors import ToolMissing

ATTEMPTS = 2
"""A row may take its worker down this often on its own before it is rejected."""


class Coordinator:
    """Lives on the driver's node. It remembers batches at work, rows that were tried alone, and why
    a worker could not begin."""

    def __init__(self) -> None:
        self._batches: Counter[tuple[str, str]] = Counter()
        self._rows: Counter[tuple[str, str]] = Counter()
        self._problem: ToolMissing | None = None

    def cannot_begin(self, problem: ToolMissing) -> None:
        """Note what a worker lacks."""
        self._problem = problem

    def problem(self) -> ToolMissing | None:
        """What a worker lacked."""
        return self._problem

    def begin_batch(self, stage: str, keys: Sequence[str]) -> bool:
        """Note that a worker starts on these; True when one of them was begun before."""
        self._batches.update((stage, key) for key in keys)
        return any(self._batches[stage, key] > 1 for key in keys)

    def end_batch(self, stage: str, keys: Sequence[str]) -> None:
        """Forget what :meth:`begin_batch` noted."""
        for key in keys:
            self._batches.pop((stage, key), None)

    def begin_row(self, stage: str, row_id: str) -> bool:
        """Note a try of one row on its own; False when it has used up its attempts."""
        self._rows[stage, row_id] += 1
        return self._rows[stage, row_id] <= ATTEMPTS

    def end_row(self, stage: str, row_id: str) -> None:
        """Forget the tries of a row that did its worker no harm."""
        self._rows.pop((stage, row_id), None)
