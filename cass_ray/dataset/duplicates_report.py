"""What was taken out of a data set: ``clusters.parquet`` and ``decontamination.parquet``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

REMOVED_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("origin", pa.string()),
        ("repository", pa.string()),
        ("path", pa.string()),
        ("level", pa.string()),
        ("repeats", pa.string()),
        ("similarity", pa.float64()),
    ]
)
"""``id`` is the row that was taken out; ``repeats`` the row that was kept (a cluster is what
repeats one row), or the name of the evaluation program."""


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """One row that was taken out for what it repeats: a line of ``clusters.parquet`` or of
    ``decontamination.parquet``."""

    id: str
    origin: str
    repository: str
    path: str
    level: str
    """``exact``, ``near``, ``shape``, ``opcodes``, ``source``, ``repository`` or ``canary``."""
    repeats: str
    """Id of the row that was kept, or the name of the evaluation program."""
    similarity: float


def removed_table(rows: Sequence[RemovedRow]) -> pa.Table:
    """``rows`` with :data:`REMOVED_SCHEMA`."""
    return pa.Table.from_pylist([asdict(each) for each in rows], schema=REMOVED_SCHEMA)
