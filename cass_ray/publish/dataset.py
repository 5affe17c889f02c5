"""A data set in the hub's layout: Parquet by split, card, Croissant metadata."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cass_ray.dataset.parquet import CHECKED, parquet_dataset, read_rows
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.publish.settings import PublishSettings
from cass_ray.publish.withheld import Withholding, read_opt_out

SPLITS = ("train", "validation")
_GROUP = 50


@dataclass
class PublishedRows:
    """What was written, and what was not."""

    splits: Counter[str] = field(default_factory=Counter)
    withheld: Counter[str] = field(default_factory=Counter)
    """Reason -> rows."""
    provenance: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(repository, revision, licence) -> rows."""
    levels: Counter[str] = field(default_factory=Counter)
    origins: Counter[str] = field(default_factory=Counter)
    nvidia: set[str] = field(default_factory=set)
    amd: set[str] = field(default_factory=set)

    @property
    def rows(self) -> int:
        return self.splits.total()


class SplitWriter:
    """Files of one split, named as the hub names them once their number is known."""

    def __init__(self, folder: Path, split: str, rows_per_file: int) -> None:
        self._folder, self._split, self._most = folder, split, rows_per_file
        self._pending: list[dict[str, Any]] = []
        self._writer: pq.ParquetWriter | None = None
        self._files: list[Path] = []
        self._rows = 0

    def write(self, row: dict[str, Any]) -> None:
        self._pending.append(row)
        if len(self._pending) == min(_GROUP, self._most):
            self._flush()

    def close(self) -> list[Path]:
        """The files, in order; none of a split without rows."""
        if self._pending:
            self._flush()
        if self._writer is not None:
            self._writer.close()
        names = []
        for number, path in enumerate(self._files):
            name = f"{self._split}-{number:05}-of-{len(self._files):05}.parquet"
            names.append(path.rename(self._folder / name))
        return names

    def _flush(self) -> None:
        if self._writer is None:
            self._files.append(self._folder / f".{self._split}-{len(self._files)}.part")
            self._writer = pq.ParquetWriter(self._files[-1], PAIR_SCHEMA, **CHECKED)
        self._writer.write_table(pa.Table.from_pylist(self._pending, schema=PAIR_SCHEMA))
        self._rows += len(self._pending)
        self._pending = []
        if self._rows >= self._most:
            self._writer.close()
            self._writer, self._rows = None, 0


def write_rows(settings: PublishSettings, folder: Path) -> PublishedRows:
    """Write ``folder/data``. Rejects stay: most were left out for what they may not show.

    Raises :class:`~cass_ray.config.SettingsError` and :class:`FileNotFoundError`.
    """
    withholding = Withholding(settings.licenses, read_opt_out(settings.opt_out))
    split_of = _splits(settings.source)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    writers = {split: SplitWriter(data, split, settings.rows_per_file) for split in SPLITS}
    result = PublishedRows()
    for row in _rows(settings.source):
        if reason := withholding.objection(row):
            result.withheld[reason] += 1
            continue
        split = split_of.get(row["id"], "train")
        writers[split].write(row)
        _count(result, row, split)
    for writer in writers.values():
        writer.close()
    return result


def _count(data: PublishedRows, row: dict[str, Any], split: str) -> None:
    data.splits[split] += 1
    data.levels[row["verified"] or "none"] += 1
    data.origins[row["origin"] or "unknown"] += 1
    data.nvidia.update(row["cuda_arch"] or ())
    data.amd.add(row["hip_arch"] or "unknown")
    place = (row["repository"] or "", row["revision"] or "", row["license"] or "")
    data.provenance[place] += 1


def _rows(source: Path) -> Iterator[dict[str, Any]]:
    """Rows with every published column, those that an older data set lacks as null."""
    empty = dict.fromkeys(PAIR_SCHEMA.names)
    for row in read_rows(source):
        yield {**empty, **{name: row[name] for name in row if name in empty}}


def _splits(source: Path) -> dict[str, str]:
    """Split by id, from ``selection.parquet`` where the build wrote one."""
    path = source / "selection.parquet"
    if not path.exists():
        return {}
    table = parquet_dataset([str(path)]).to_table(columns=["id", "split"]).to_pydict()
    return dict(zip(table["id"], table["split"], strict=True))


def build_report(source: Path) -> dict[str, Any]:
    """``report.json`` of the build; empty where there is none."""
    path = source / "report.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}
