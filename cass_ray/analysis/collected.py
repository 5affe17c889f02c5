"""All parts of a data set together, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cass_ray.analysis.parts import FileFigures
from cass_ray.analysis.row_features import FEATURES, Mnemonics
from cass_ray.dataset.parquet import parquet_dataset, parquet_files

_REJECT_COLUMNS = ["id", "filename", "origin", "stage", "reason", "duplicate_of"]


@dataclass
class Collected:
    """What is known of a data set."""

    features: pa.Table
    rejects: pd.DataFrame
    """id, filename, origin, stage, reason, duplicate_of."""
    mnemonics: Mnemonics
    similarities: pd.DataFrame
    documents: list[dict[str, Any]]
    sources: list[dict[str, Any]]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """A line for each pair, without its texts."""
        return pd.DataFrame(self.features.drop_columns(["texts"]).to_pandas())

    @cached_property
    def texts(self) -> pd.DataFrame:
        """A line for each text of each pair: ``row`` (position in ``rows``), level, lengths, …"""
        column = self.features["texts"].combine_chunks()
        flat = pc.list_flatten(column)
        table = pd.DataFrame(pa.Table.from_struct_array(flat).to_pandas())
        table.insert(0, "row", pc.list_parent_indices(column).to_numpy())
        table["origin"] = self.rows["origin"].to_numpy()[table["row"]]
        return table

    @property
    def pairs(self) -> int:
        return int(self.features.num_rows)


def collect(parts: Iterable[FileFigures], rejects: pd.DataFrame) -> Collected:
    """Parts in the order of their files."""
    tables = [FEATURES.empty_table()]
    similarities: list[dict[str, Any]] = []
    documents: list[dict[str, Any]] = []
    sources: list[dict[str, Any]] = []
    mnemonics: Mnemonics = {}
    for part in parts:
        tables.append(part.features)
        similarities += part.similarities
        documents += part.documents
        sources += part.sources
        for key, counts in part.mnemonics.items():
            mnemonics.setdefault(key, Counter()).update(counts)
    columns = ["id", "filename", "origin", "level", "chrf", "edit"]
    return Collected(
        pa.concat_tables(tables),
        rejects,
        dict(sorted(mnemonics.items())),
        pd.DataFrame(similarities, columns=columns).astype({"chrf": float, "edit": float}),
        documents,
        sources,
    )


def read_rejects(dataset: Path | str) -> pd.DataFrame:
    """The rejects of a data set without their texts; none where it has none."""
    files = parquet_files(dataset, "rejects")
    if not files:
        return pd.DataFrame({name: [] for name in _REJECT_COLUMNS}, dtype=object)
    return pd.DataFrame(parquet_dataset(files).to_table(columns=_REJECT_COLUMNS).to_pandas())
