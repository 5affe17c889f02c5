"""Data sets for tests, written as a build writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cass_ray.dataset.parquet import PartWriter
from cass_ray.dataset.row import is_rejected
from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA


def write_rows(rows: Iterable[dict[str, Any]], directory: Path) -> None:
    """``pairs`` and ``rejects`` of ``rows`` under ``directory``."""
    with (
        PartWriter(directory / "pairs", PAIR_SCHEMA) as pairs,
        PartWriter(directory / "rejects", REJECT_SCHEMA) as rejects,
    ):
        for row in rows:
            (rejects if is_rejected(row) else pairs).write(row)
