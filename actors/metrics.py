"""Prometheus metrics of jobs, which every node of a cluster shows for itself (``ray_cass_…``).

``cluster/dashboards/grafana.json`` draws them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ray.util.metrics import Counter, Gauge

_REASON = "reason-"


class BuildMetrics:
    """What the driver of a build knows."""

    def __init__(self) -> None:
        self._rows = Counter(
            "cass_build_rows", "Rows that are finished, by outcome", tag_keys=("outcome",)
        )
        self._expected = Gauge("cass_build_rows_expected", "Rows of the input, once it is read")

    def add(self, counts: Mapping[str, int]) -> None:
        """Note finished rows: their ``pairs``, and ``reason-WHY`` of those that were rejected."""
        for name, count in counts.items():
            outcome = "pair" if name == "pairs" else name.removeprefix(_REASON)
            if count and (name == "pairs" or name.startswith(_REASON)):
                self._rows.inc(count, {"outcome": outcome})

    def expect(self, rows: int) -> None:
        """All sources are read."""
        self._expected.set(rows)


class PoolMetrics:
    """What a worker of ``pool`` knows."""

    def __init__(self, pool: str) -> None:
        self._tags = {"pool": pool}
        self._rows = Counter("cass_pool_rows", "Rows that workers were given", tag_keys=("pool",))
        self._busy = Counter(
            "cass_pool_busy_seconds", "Time that workers had rows in hand", tag_keys=("pool",)
        )
        self._again = Counter(
            "cass_pool_blocks_again",
            "Blocks that another worker began and did not finish",
            tag_keys=("pool",),
        )

    @contextmanager
    def busy(self) -> Iterator[None]:
        """The time in it counts."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._busy.inc(time.monotonic() - began or 1e-9, self._tags)

    def given(self, rows: int) -> None:
        """A worker has got so many."""
        if rows:
            self._rows.inc(rows, self._tags)

    def again(self, blocks: int) -> None:
        """Count those that were begun before."""
        self._again.inc(blocks, self._tags)
