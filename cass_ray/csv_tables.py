"""Tables that lie beside the code as CSV files, with a line of column names."""

from __future__ import annotations

import csv
from pathlib import Path


def read_rows(path: Path) -> list[dict[str, str]]:
    """Each row by its columns' names."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_mapping(path: Path) -> dict[str, str]:
    """First column -> second column. Raises ``ValueError`` for a name that is there twice."""
    rows = [list(row.values()) for row in read_rows(path)]
    mapping = {row[0]: row[1] for row in rows}
    if len(mapping) != len(rows):
        raise ValueError(f"{path}: a name is in the table twice")
    return mapping
