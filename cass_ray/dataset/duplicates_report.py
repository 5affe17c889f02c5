"""What was taken out of a data set: ``clusters.parquet`` and ``decontamination.parquet``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cass_ray.corpus.screening.screening import Finding, Findings

FINDING_SCHEMA = pa.schema(
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


def write_findings(findings: Findings, out: Path) -> None:
    """Write both files to ``out``; they are there, with their schema, also when they are empty."""
    _write(findings.duplicates, out / "clusters.parquet")
    _write(findings.overlaps, out / "decontamination.parquet")


def _write(found: Sequence[Finding], path: Path) -> None:
    table = pa.Table.from_pylist([asdict(each) for each in found], schema=FINDING_SCHEMA)
    pq.write_table(table, path, compression="zstd")
